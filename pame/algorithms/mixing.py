"""The weights of one iteration: Q on the edges that are active at k, and the rest with the node itself.

Where both ends agree on which edges are active, the weights of all nodes are a symmetric, doubly stochastic matrix at
every k; at an iteration that is no round it is the identity. `metropolis` and `uniform` are weights of the whole
graph; `active` are Metropolis weights of the graph of the active edges alone:

    Q_ij^k = 1 / (1 + max(a_i^k, a_j^k)),      a_i^k = how many active edges node i has at k
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from pame.algorithms.interface import Context
from pame.exchange import Vector, blocks
from pame.topology import mixing_row

Weights = Literal["metropolis", "uniform", "active"]


class Mixing:
    def __init__(self, context: Context, kind: Weights) -> None:
        self._context = context
        self._row = None if kind == "active" else mixing_row(context.topology, context.node, kind)

    def edges(self, k: int) -> dict[int, float]:
        """The weights of the active edges, by neighbour, ascending."""
        selection = self._context.selection
        active = sorted(selection.active(self._context.node, k))
        if self._row is not None:
            return {j: self._row[j] for j in active}
        return {j: 1.0 / (1.0 + max(len(active), len(selection.active(j, k)))) for j in active}

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
    ascending = [(weights[node], vectors[node]) for node in sorted(weights)]
    total = np.zeros_like(ascending[0][1])
    for block in blocks(total.size):
        part = total[block]
        weighted = np.empty_like(part)
        for weight, vector in ascending:
            np.add(part, np.multiply(weight, vector[block], out=weighted), out=part)
    return total


def pull(weights: Mapping[int, float], own: Vector, others: Mapping[int, Vector]) -> Vector:
    """sum_j Q_ij (x_j - x_i) over some edges, in ascending order of the node."""
    return weighted_sum(weights, {node: others[node] - own for node in weights}) if weights else np.zeros_like(own)
