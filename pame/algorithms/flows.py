"""What flows over a node's edges, kept edge by edge: duals and trackers whose sum over all nodes must stay zero.

What flows must be opposite at the two ends of an edge. `FlowNode`, which NIDS and DMGT-SVRG have in common, knows two
answers to a missing message. `both`: both ends leave out an edge over which a message of k is lost on purpose, either
way: they can compute it, or the sender knows and the receiver misses it. What is missing for another reason (patience
ran out) only this end leaves out, and the bias stays; `desynchronised` counts it, and more: an end cannot know whether
the other left the edge out, too. `naive`: only the end that misses a message leaves the edge out, always. When a
neighbour comes back empty both ends of the edge begin anew; a message that was under way then may have been used by one
end only, which is counted and stays.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeVar

import numpy as np

from pame.algorithms.base import MixingSpec, SteppingNode
from pame.algorithms.interface import Context
from pame.algorithms.mixing import Mixing, weighted_sum
from pame.algorithms.selection import Selection
from pame.exchange import Vector


def dual_share(selection: Selection, node: int, neighbour: int) -> float:
    """1 / e: how much of a correction goes into the dual of an edge that is seldom active (`nids`)."""
    return sqrt(selection.odds(node, neighbour)) / selection.common_period(node, neighbour)


class EdgeFlows:
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
            self._flow(node, weights[node] * (others[node] - own))
        self._add_up()

    def add(self, node: int, flow: Vector) -> None:
        self._flow(node, flow)
        self._add_up()

    def forget(self, node: int) -> None:
        """The other end of an edge knows nothing of it any more."""
        self._over.pop(node, None)
        self._add_up()

    def _flow(self, node: int, flow: Vector) -> None:
        self._over[node] = self._over.get(node, self._zero) + flow

    def _add_up(self) -> None:
        self.total = weighted_sum(dict.fromkeys(self._over, 1.0), self._over) if self._over else self._zero


@dataclass(frozen=True)
class FlowSpec(MixingSpec):
    """Those of mixing, and what a missing message means.

    on_loss: both ends leave out an edge that loses a message (both), or only the one that misses it (naive)
    """

    on_loss: Literal["both", "naive"] = "both"


Spec = TypeVar("Spec", bound=FlowSpec)


class FlowNode(SteppingNode[Spec]):
    def __init__(self, spec: Spec, context: Context) -> None:
        super().__init__(spec, context)
        self._mixing = Mixing(context, spec.mixing)
        self._flows = EdgeFlows(np.zeros_like(context.start))
        self._missed: dict[int, int] = {}
        """The iteration of what a neighbour did not get, unforeseen, since the last round."""

    def missed(self, neighbour: int, k: int) -> None:
        """It leaves the edge out, so this end does, too: behind what waited too long, that of today will be late."""
        self._missed[neighbour] = k

    def greet(self, neighbour: int) -> None:
        """What flowed over the edge is gone at its other end, so it must go at this one."""
        self._flows.forget(neighbour)

    def _used(self, k: int, heard: Collection[int]) -> dict[int, float]:
        """The weights of the edges to use at k, with those who were heard; gaps are counted."""
        if self._spec.on_loss == "naive":
            edges = self._mixing.edges(k)
        else:
            both = self._mixing.edges_both_ways(k)
            edges = {j: weight for j, weight in both.items() if j not in self._missed}
            self._gaps += sum(self._missed.get(j, k) != k for j in both)
        self._missed.clear()
        used = {j: weight for j, weight in edges.items() if j in heard}
        self._gaps += len(edges) - len(used)
        return used
