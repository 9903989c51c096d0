"""DMGT-SVRG: gradient tracking of variance-reduced gradients, with heavy-ball momentum.

    g_i^k = grad f_i(x_i^k; B) - grad f_i(w_i; B) + grad f_i(w_i)     w_i: x_i at the last k that snapshot_every divides
    y_i^k = sum_j Q_ij y_j^{k-1} + g_i^k - g_i^{k-1},     y_i^0 = g_i^0
    x_i^{k+1} = sum_j Q_ij x_j^k - eta/gamma^k y_i^k + theta (x_i^k - x_i^{k-1})

Its own paper was not at hand. This is GT-SVRG (Xin, Khan, Kar, 2020) with the momentum term of DSGT-HB (Gao et al.,
2023) in the order "combine, then adapt"; theta = 0 is GT-SVRG in that order. Both x and y travel, whole.

The tracker is kept as y_i = g_i + what flowed over the edges, Q_ij (y_j - y_i) at each round: opposite at the two ends
of an edge, so the mean tracker is the mean gradient estimate at every k: `flows` says what a missing message means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt

from pame.algorithms.base import dense
from pame.algorithms.flows import FlowNode, FlowSpec
from pame.algorithms.interface import Context, Form, Message, Received
from pame.algorithms.mixing import pull
from pame.exchange import Vector, as_sent


@dataclass(frozen=True)
class DmgtSvrgSpec(FlowSpec):
    """DMGT-SVRG: gradient tracking with momentum and variance-reduced gradients.

    momentum: theta
    snapshot_every: iterations between full gradients
    """

    kind: Literal["dmgt-svrg"] = "dmgt-svrg"
    eta: Annotated[float, Gt(0)] = 0.05
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.3
    snapshot_every: Annotated[int, Ge(1)] = 10

    def node(self, context: Context) -> "DmgtSvrg":
        return DmgtSvrg(self, context)


class DmgtSvrg(FlowNode[DmgtSvrgSpec]):
    vectors: ClassVar = {"x": Form.DENSE, "y": Form.DENSE}
    bundles: ClassVar = [frozenset({"x", "y"})]

    def __init__(self, spec: DmgtSvrgSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._velocity = np.zeros_like(context.start)
        """x^k - x^{k-1}."""
        self._snapshot = context.start
        self._snapshot_gradient = np.zeros_like(context.start)
        self.estimate = np.zeros_like(context.start)
        """g_i^k."""
        self.tracker = np.zeros_like(context.start)
        """y_i^k, from `prepare` on."""
        self._pull = np.zeros_like(context.start)

    def prepare(self, k: int) -> None:
        self.estimate = self._estimate(k)
        self.tracker = self.estimate + self._flows.total

    def message(self, k: int) -> Message:
        values = self._context.values
        return {"x": as_sent(self._model, values), "y": as_sent(self.tracker, values)}

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """What neighbours pull this node by, over the edges that both ends use. Its own vectors count as they were
        sent, so that both ends see the same."""
        now = [message for message in received if message.iteration == k]
        models = {message.sender: dense(message, "x") for message in now}
        trackers = {message.sender: dense(message, "y") for message in now}
        used = self._used(k, models)
        self._pull = pull(used, as_sent(self._model, self._context.values), models)
        self._flows.pull(used, as_sent(self.tracker, self._context.values), trackers)
        return float(len(received))

    def step(self, k: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            moved = self._pull - self._size(k) * self.tracker + self._spec.momentum * self._velocity
            after = self._finite(k, self._model + moved)
            self._velocity = after - self._model
        self._pull = np.zeros_like(self._model)
        self._model = after

    def _estimate(self, k: int) -> Vector:
        """The full gradient at a snapshot, which a node takes at its first iteration, too; else the corrected one."""
        if k == self._context.first or k % self._spec.snapshot_every == 0:
            self._snapshot, self._snapshot_gradient = self._model, self._context.objective.full_gradient(self._model)
            return self._snapshot_gradient
        correction = self._snapshot_gradient - self._gradient(k, self._snapshot)
        return self._gradient(k) + correction
