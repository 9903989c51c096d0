"""The weights of one iteration: Q on the edges that are active at k, and the rest with the node itself.

Both ends agree on which edges are active, so that the weights of all nodes are a symmetric, doubly stochastic matrix
at every k; at an iteration that is no round it is the identity.
"""

from collections.abc import Collection, Mapping
from typing import Literal

import numpy as np

from pame.algorithms.seam import Context, Received
from pame.exchange import Vector
from pame.topology import mixing_row

Weights = Literal["metropolis", "uniform"]


class Mixing:
    """One node's row of Q."""

    def __init__(self, context: Context, kind: Weights) -> None:
        self._context = context
        self._row = mixing_row(context.topology, context.node, kind)

    def edges(self, k: int) -> dict[int, float]:
        """The weights of the active edges, by neighbour, ascending."""
        return {j: self._row[j] for j in sorted(self._context.selection.active(self._context.node, k))}

    def edges_both_ways(self, k: int) -> dict[int, float]:
        """Those of them that lose no message on purpose, either way: both ends leave the others out."""
        here, lost = self._context.node, self._context.is_lost
        return {j: w for j, w in self.edges(k).items() if not (lost(here, j, k) or lost(j, here, k))}

    def average(self, k: int, own: Vector, others: Mapping[int, Vector], on_loss: Literal["self", "naive"]) -> Vector:
        """The weighted sum of the models, in ascending order of the node, its own included; `naive`: a model that is
        missing counts as zero."""
        edges, here = self.edges(k), self._context.node
        kept = 1.0 - sum(edges.values())
        missing = sum(weight for j, weight in edges.items() if j not in others)
        weights = {j: weight for j, weight in edges.items() if j in others}
        weights[here] = kept + (missing if on_loss == "self" else 0.0)
        return weighted_sum(weights, {**others, here: own})


def weighted_sum(weights: Mapping[int, float], vectors: Mapping[int, Vector]) -> Vector:
    """In ascending order of the node, in float64: the same bits everywhere."""
    total = np.zeros_like(vectors[next(iter(weights))])
    for node in sorted(weights):
        total += weights[node] * vectors[node]
    return total


def pull(weights: Mapping[int, float], own: Vector, others: Mapping[int, Vector]) -> Vector:
    """sum_j Q_ij (x_j - x_i) over some edges, in ascending order of the node."""
    total = np.zeros_like(own)
    for node in sorted(weights):
        total += weights[node] * (others[node] - own)
    return total


def known(weights: Mapping[int, float], there: Collection[int]) -> dict[int, float]:
    """The weights of those who are there."""
    return {node: weight for node, weight in weights.items() if node in there}


class Flows:
    """What has flowed to a node over each of its edges. The other end has the same with the opposite sign, so over all
    nodes it sums to zero, and still does when both ends of an edge forget it."""

    def __init__(self, zero: Vector) -> None:
        self._zero = zero
        self._over: dict[int, Vector] = {}
        self.total = zero
        """Over all edges, in ascending order of the other end."""

    def pull(self, weights: Mapping[int, float], own: Vector, others: Mapping[int, Vector]) -> None:
        """Over each of these edges weight times the difference flows in."""
        for node in weights:
            self._over[node] = self._over.get(node, self._zero) + weights[node] * (others[node] - own)
        self._add_up()

    def forget(self, node: int) -> None:
        """The other end of an edge knows nothing of it any more."""
        self._over.pop(node, None)
        self._add_up()

    def _add_up(self) -> None:
        self.total = weighted_sum(dict.fromkeys(self._over, 1.0), self._over) if self._over else self._zero


def dense(received: Received, name: str) -> Vector:
    """A vector of a message that travels whole."""
    vector = received.message[name]
    if not isinstance(vector, np.ndarray):
        raise TypeError(f"{name!r} came as a {type(vector).__name__} where a whole vector is expected")
    return vector
