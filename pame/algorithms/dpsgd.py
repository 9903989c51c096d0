"""D-PSGD: every node averages its neighbours' whole models with fixed weights and takes a gradient step.

    mix-first    x_i <- sum_j Q_ij x_j - eta/gamma^k grad f_i(x_i)         Q symmetric and doubly stochastic
    step-first   y_i = x_i - eta/gamma^k grad f_i(x_i);   x_i <- sum_j Q_ij y_j

The paper (Lian et al., NeurIPS 2017) prints the first, and remarks that the second may be used as well. `gossip` says
what a missing message means. By default a node averages all neighbours at its own rounds, whether or not these are at
one (`draw: directed`); `mutual` and `shared` are for comparisons: an edge takes part only if both are.
"""

from dataclasses import dataclass
from typing import Literal

from pame.algorithms.gossip import GossipNode, GossipSpec
from pame.algorithms.interface import Context
from pame.algorithms.selection import WHO, Who
from pame.exchange import Vector


@dataclass(frozen=True)
class DpsgdSpec(GossipSpec):
    """D-PSGD: gossip, and a gradient step.

    draw: who draws the edges of a round, each node for itself (directed: it averages whom it drew), both ends (mutual)
        or the edge itself (shared)
    order: mix-first: the average of the models, less a gradient step taken at a node's own model; step-first: each
        takes its step and sends the result, and the average of these is the model
    """

    kind: Literal["dpsgd"] = "dpsgd"
    draw: Literal["directed", "mutual", "shared"] = "directed"  # type: ignore[assignment]
    order: Literal["mix-first", "step-first"] = "mix-first"

    @property
    def who(self) -> Who:
        return WHO[self.draw]

    def node(self, context: Context) -> "Dpsgd | StepFirstDpsgd":
        return Dpsgd(self, context) if self.order == "mix-first" else StepFirstDpsgd(self, context)


class Dpsgd(GossipNode[DpsgdSpec]):
    def step(self, k: int) -> None:
        self._model = self._descend(k, self._take_average(), self._gradient(k))


class StepFirstDpsgd(GossipNode[DpsgdSpec]):
    @property
    def _own(self) -> Vector:
        return self._ahead

    def prepare(self, k: int) -> None:
        self._ahead = self._descend(k, self._model, self._gradient(k))

    def step(self, k: int) -> None:
        self._model = self._finite(k, self._take_average())
