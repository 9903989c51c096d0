"""An undirected graph on the nodes 0 .. m-1, as a value, its mixing weights, and what the kinds need to make one.

metropolis:  Q_ij = 1 / (1 + max(d_i, d_j))        uniform:  Q_ij = 1 / (1 + d_max)        on edges,
Q_ii = 1 - sum_j Q_ij.                             Both Q are symmetric and doubly stochastic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pame.errors import TopologyError

ATTEMPTS = 100

Indices = NDArray[np.int64]
Edges = NDArray[np.int64]
"""One row (i, j) per edge, i < j; rows ascending, none twice."""
MixingKind = Literal["metropolis", "uniform"]


@dataclass(frozen=True, eq=False)
class Topology:
    nodes: int
    edges: Edges

    @cached_property
    def adjacency(self) -> tuple[Indices, Indices]:
        """Offsets and targets: the neighbours of i are `targets[offsets[i]:offsets[i + 1]]`, ascending."""
        ends = np.concatenate([self.edges, self.edges[:, ::-1]])
        keys = np.sort(ends[:, 0] * self.nodes + ends[:, 1])
        offsets = np.searchsorted(keys, np.arange(self.nodes + 1) * self.nodes).astype(np.int64)
        return offsets, keys % self.nodes

    @cached_property
    def degrees(self) -> Indices:
        return np.bincount(self.edges.ravel(), minlength=self.nodes).astype(np.int64)

    def neighbours(self, node: int) -> tuple[int, ...]:
        """The nodes joined to one node, ascending."""
        if not 0 <= node < self.nodes:
            raise IndexError(f"node {node} of {self.nodes}")
        offsets, targets = self.adjacency
        return tuple(targets[offsets[node] : offsets[node + 1]].tolist())


def mixing_row(topology: Topology, node: int, kind: MixingKind) -> dict[int, float]:
    """Row `node` of Q: how much of each neighbour's model goes into its average, by ascending node id, its own too."""
    neighbours = topology.neighbours(node)
    degrees = topology.degrees
    if kind == "uniform":
        weights = dict.fromkeys(neighbours, 1.0 / (1.0 + float(degrees.max())))
    else:
        own = degrees[node]
        weights = {j: 1.0 / (1.0 + float(max(own, degrees[j]))) for j in neighbours}
    total = 0.0
    for weight in weights.values():  # one by one, as `describe` adds them: the same bits
        total += weight
    weights[node] = 1.0 - total
    return dict(sorted(weights.items()))


def canonical(pairs: NDArray[np.int64], nodes: int) -> Edges:
    """Edges from pairs of different nodes in any order and direction; a pair that comes twice is one edge."""
    keys = np.unique(pairs.min(axis=1) * nodes + pairs.max(axis=1))
    return np.stack([keys // nodes, keys % nodes], axis=1)


def components(nodes: int, edges: Edges) -> Indices:
    """For each node the smallest node it can reach, itself included: all 0 if the graph is connected.

    Every component takes the smallest label next to it, then labels are followed to their end. A component that did
    not move has a neighbour that did, so each second round at least halves their number.
    """
    label = np.arange(nodes)
    while True:
        left, right = label[edges[:, 0]], label[edges[:, 1]]
        if np.array_equal(left, right):
            return label
        np.minimum.at(label, np.maximum(left, right), np.minimum(left, right))
        while not np.array_equal(label, label[label]):
            label = label[label]


def first_connected(nodes: int, draw: Callable[[int], Edges], advice: str) -> Edges:
    """The first connected graph among draw(0), draw(1), ...; `advice` ends the refusal if there is none."""
    for attempt in range(ATTEMPTS):
        edges = draw(attempt)
        if not components(nodes, edges).any():
            return edges
    raise TopologyError(f"none of {ATTEMPTS} random graphs on {nodes} nodes was connected; {advice}")
