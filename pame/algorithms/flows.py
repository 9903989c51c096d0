"""What flows over a node's edges, kept edge by edge: duals and trackers whose sum over all nodes must stay zero."""

from collections.abc import Mapping
from math import sqrt

from pame.algorithms.mixing import weighted_sum
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
