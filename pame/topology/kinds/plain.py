"""The graphs that need no parameter and no explanation: ring, star, complete."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pame.topology.graph import Edges, canonical


@dataclass(frozen=True)
class Ring:
    """Every node is joined to the one before and the one after it."""

    kind: Literal["ring"] = "ring"

    def edges(self, nodes: int, _seed: int) -> Edges:
        """i – i+1 mod m; two nodes have one edge."""
        ids = np.arange(nodes)
        return canonical(np.stack([ids, (ids + 1) % nodes], axis=1), nodes)


@dataclass(frozen=True)
class Star:
    """Node 0 is joined to every other node, and nobody else to anybody."""

    kind: Literal["star"] = "star"

    def edges(self, nodes: int, _seed: int) -> Edges:
        leaves = np.arange(1, nodes)
        return np.stack([np.zeros_like(leaves), leaves], axis=1)


@dataclass(frozen=True)
class Complete:
    """Every node is joined to every other node."""

    kind: Literal["complete"] = "complete"

    def edges(self, nodes: int, _seed: int) -> Edges:
        return np.stack(np.triu_indices(nodes, 1), axis=1).astype(np.int64)
