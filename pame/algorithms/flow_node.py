"""What NIDS and DMGT-SVRG have in common: something flows over each edge, which must be opposite at its two ends.

`both`: both ends leave out an edge over which a message of k is lost on purpose, either way: they can compute it, or
the sender knows and the receiver misses it. What is missing for another reason (patience ran out) only this end leaves
out, and the bias stays; `desynchronised` counts it, and more: an end cannot know whether the other left the edge out,
too. `naive`: only the end that misses a message leaves the edge out, always. When a neighbour comes back empty both
ends of the edge begin anew; a message that was under way then may have been used by one end only, which is counted and
stays.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from pame.algorithms.base import MixingSpec, SteppingNode
from pame.algorithms.flows import EdgeFlows
from pame.algorithms.interface import Context
from pame.algorithms.mixing import Mixing


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
