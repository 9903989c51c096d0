"""The graphs that need no parameter: ring, star, complete, and the exponential one, where all are near each other."""

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


@dataclass(frozen=True)
class Exponential:
    """Node i is joined to i ± 1, 2, 4, 8, ... (mod the number of nodes): about 2 log2 m neighbours."""

    kind: Literal["exponential"] = "exponential"

    def edges(self, nodes: int, _seed: int) -> Edges:
        """i – i + 2^j mod m for every 2^j < m."""
        ids = np.arange(nodes)
        jumps = [1 << j for j in range((nodes - 1).bit_length())]
        return canonical(np.concatenate([np.stack([ids, (ids + jump) % nodes], axis=1) for jump in jumps]), nodes)
