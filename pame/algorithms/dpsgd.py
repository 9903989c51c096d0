"""D-PSGD: every node averages its neighbours' whole models with fixed weights and takes a gradient step.

    x_i <- sum_j Q_ij x_j - eta/gamma^k grad f_i(x_i)           Q symmetric and doubly stochastic

`gossip` says what a missing message means. By default a node averages all neighbours at its own rounds, whether or not
these are at one (`draw: directed`); `mutual` and `shared` are for comparisons: an edge takes part only if both are.
"""

from dataclasses import dataclass
from typing import Literal

from pame.algorithms.descend import descend
from pame.algorithms.gossip import GossipNode, GossipSpec
from pame.algorithms.seam import Context
from pame.algorithms.selection import WHO, Who


@dataclass(frozen=True)
class DpsgdSpec(GossipSpec):
    """D-PSGD: gossip, and a gradient step.

    draw: who draws the edges of a round, each node for itself (directed: it averages whom it drew), both ends (mutual)
        or the edge itself (shared)
    """

    kind: Literal["dpsgd"] = "dpsgd"
    draw: Literal["directed", "mutual", "shared"] = "directed"  # type: ignore[assignment]

    @property
    def who(self) -> Who:
        """Whom a node has drawn, or with whom it agrees."""
        return WHO[self.draw]

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
