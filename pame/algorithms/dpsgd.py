"""D-PSGD: every node averages its neighbours' whole models with fixed weights and takes a gradient step.

    x_i <- sum_j Q_ij x_j - eta/gamma^k grad f_i(x_i)           Q symmetric and doubly stochastic

`gossip` says what a missing message means. By default a node averages all neighbours at its own rounds, whether or not
these are at one; `mutual` is for comparisons: an edge takes part only if both of its ends are, and have drawn it.
"""

from dataclasses import dataclass
from typing import Literal

from pame.algorithms.descend import descend
from pame.algorithms.gossip import GossipNode, GossipSpec
from pame.algorithms.seam import Context
from pame.algorithms.selection import Who


@dataclass(frozen=True)
class DpsgdSpec(GossipSpec):
    """D-PSGD: gossip, and a gradient step.

    participation: the share of its neighbours that a node draws for a round (see mutual)
    mutual: whether an edge counts only if both of its ends drew it; otherwise a node averages whom it drew
    """

    kind: Literal["dpsgd"] = "dpsgd"
    mutual: bool = False

    @property
    def who(self) -> Who:
        """Whom a node has drawn; or, mutual, who has drawn it, too."""
        return Who.MUTUAL if self.mutual else Who.CHOSEN

    def node(self, context: Context) -> "Dpsgd":
        """The state machine of one node."""
        return Dpsgd(self, context)


class Dpsgd(GossipNode):
    """One node of D-PSGD."""

    def __init__(self, spec: DpsgdSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._spec = spec

    def step(self, k: int) -> None:
        """The gradient is taken at the node's own model, before averaging."""
        size = self._spec.step.size(k, 1)
        gradient = self._context.objective.gradient(self._model, k)
        self._model = descend(self._take_average(), size, gradient, self._context.node, k)
