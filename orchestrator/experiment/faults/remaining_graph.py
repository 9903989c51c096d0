"""The graph that is left at a moment of a plan, and how well it still mixes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from orchestrator.experiment.faults.resolve import is_among
from pame.fault_effects import CutEffect, FaultEvent, Link, StoppingEffect
from pame.topology import Topology
from pame.topology.describe import spectral_gap
from pame.topology.graph import components


@dataclass(frozen=True)
class LiveGraph:
    """Who is up, the edges between them that carry messages both ways, and what follows from that.

    The spectral gap is that of the Metropolis matrix on the nodes that are up: 0 if they are not connected, None if it
    was not found or nobody is up.
    """

    up: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    components: int
    spectral_gap: float | None


def live_graph(topology: Topology, events: Iterable[FaultEvent]) -> LiveGraph:
    """What these events, all at once, leave of a graph: take those that are `active` at a moment."""
    down = np.zeros(topology.nodes, dtype=np.bool_)
    cut: set[Link] = set()
    for event in events:
        if isinstance(event.effect, CutEffect):
            cut |= set(event.links)
        elif isinstance(event.effect, StoppingEffect):
            down[list(event.nodes)] = True
    edges = topology.edges[~is_among(topology, cut) & ~down[topology.edges].any(axis=1)]
    up = np.flatnonzero(~down)
    labels = components(topology.nodes, edges)[up]
    parts = int(np.unique(labels).size)
    return LiveGraph(
        tuple(up.tolist()), tuple((a, b) for a, b in edges.tolist()), parts, _gap(topology.nodes, up, edges, parts)
    )


def _gap(nodes: int, up: np.ndarray, edges: np.ndarray, parts: int) -> float | None:
    if parts != 1:
        return 0.0 if parts else None
    renamed = np.zeros(nodes, dtype=np.int64)
    renamed[up] = np.arange(up.size)
    return spectral_gap(Topology(int(up.size), renamed[edges]))
