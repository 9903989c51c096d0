"""Random graphs are drawn again until one is connected."""

from collections.abc import Callable

from pame.errors import TopologyError
from pame.topology.graph import Edges, components

ATTEMPTS = 100


def first_connected(nodes: int, draw: Callable[[int], Edges], advice: str) -> Edges:
    """The first connected graph among draw(0), draw(1), ...; `advice` ends the refusal if there is none."""
    for attempt in range(ATTEMPTS):
        edges = draw(attempt)
        if not components(nodes, edges).any():
            return edges
    raise TopologyError(f"none of {ATTEMPTS} random graphs on {nodes} nodes was connected; {advice}")
