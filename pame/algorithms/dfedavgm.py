"""DFedAvgM: local heavy-ball steps, and a gossip average of the models at every round.

    at a round:  y_i = sum_j Q_ij x_j,  v_i = 0        else:  y_i = x_i
    v_i <- theta v_i - eta/gamma^k g_i(y_i),    x_i <- y_i + v_i

This is y^{k+1} = y^k - eta g(y^k) + theta (y^k - y^{k-1}) with y^{-1} = y^0 at the beginning of a round, as in the
paper (Sun, Li and Wang, TPAMI 2023). Its local iterations are a period here: one iteration is one local step. Models
travel whole; the paper's quantized variant is not in here.

`gossip` says what a missing message means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Lt

from pame.algorithms.descend import check_finite
from pame.algorithms.gossip import GossipNode, GossipSpec
from pame.algorithms.seam import Context, Received


@dataclass(frozen=True)
class DfedavgmSpec(GossipSpec):
    """DFedAvgM's parameters: those of gossip, and the momentum theta."""

    kind: Literal["dfedavgm"] = "dfedavgm"
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9

    def node(self, context: Context) -> "Dfedavgm":
        """The state machine of one node."""
        return Dfedavgm(self, context)


class Dfedavgm(GossipNode):
    """One node of DFedAvgM."""

    def __init__(self, spec: DfedavgmSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._spec = spec
        self._velocity = np.zeros_like(context.start)

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """The average; the velocity begins anew."""
        self._velocity = np.zeros_like(self._model)
        return super().absorb(k, received)

    def step(self, k: int) -> None:
        """A heavy-ball step from the average."""
        start, size = self._take_average(), self._spec.step.size(k, 1)
        gradient = self._context.objective.gradient(start, k)
        with np.errstate(over="ignore", invalid="ignore"):
            self._velocity = self._spec.momentum * self._velocity - size * gradient
            self._model = check_finite(start + self._velocity, self._context.node, k, size)
