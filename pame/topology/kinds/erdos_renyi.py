"""The Erdős–Rényi graph: every pair of nodes is joined with the same probability, independently."""

from dataclasses import dataclass
from math import exp, log, log1p
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt, Le

from pame.errors import TopologyError
from pame.randomness import Key, Purpose, uniforms
from pame.topology.graph import Edges, first_connected

_HOPELESS = 20.0
"""Expected nodes without an edge above which no graph is drawn: a connected one has odds of about e^-20."""


@dataclass(frozen=True)
class ErdosRenyi:
    """Each pair of nodes is joined with the same probability, independently; drawn again until connected.

    p: that probability
    """

    p: Annotated[float, Gt(0), Le(1)]
    kind: Literal["erdos-renyi"] = "erdos-renyi"

    def edges(self, nodes: int, seed: int) -> Edges:
        """Pair i < j is joined if number j - i - 1 of the stream of node i is below p."""
        enough = min(1.0, (log(nodes) + 3) / nodes)
        advice = f"with p = {self.p:g} too many nodes get no edge: use p of about {enough:.2g} or more"
        alone = nodes * exp((nodes - 1) * log1p(-self.p)) if self.p < 1 else 0.0
        if alone > _HOPELESS:
            raise TopologyError(f"a random graph on {nodes} nodes would not be connected; {advice}")
        return first_connected(nodes, lambda attempt: self._draw(nodes, seed, attempt), advice)

    def _draw(self, nodes: int, seed: int, attempt: int) -> Edges:
        later = [
            i + 1 + np.flatnonzero(uniforms(Key(seed, Purpose.GRAPH, i, attempt), nodes - 1 - i) < self.p)
            for i in range(nodes - 1)
        ]
        earlier = np.repeat(np.arange(nodes - 1), [j.size for j in later])
        return np.stack([earlier, np.concatenate(later)], axis=1)
