"""DFedAvgM: local heavy-ball steps, and a gossip average of the models at every round.

    at a round:  y_i = sum_j Q_ij x_j,  v_i = 0        else:  y_i = x_i
    v_i <- theta v_i - eta/gamma^k g_i(y_i),    x_i <- y_i + v_i

This is y^{k+1} = y^k - eta g(y^k) + theta (y^k - y^{k-1}) with y^{-1} = y^0 at the beginning of a round, as in the
paper (Sun, Li and Wang, TPAMI 2023). Its local iterations are a period here: one iteration is one local step. Models
travel whole; the paper's quantized variant is not in here.

Missing messages are handled as in D-PSGD: the weight goes to the node itself, or (`naive`) the model counts as zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from pame.algorithms.descend import check_finite
from pame.algorithms.mixing import Mixing, dense
from pame.algorithms.seam import Context, Delivery, Form, Message, Received
from pame.algorithms.selection import Wanted, Who
from pame.algorithms.steps import FixedStep
from pame.exchange import Vector, as_sent


@dataclass(frozen=True)
class DfedavgmSpec:
    """DFedAvgM's parameters: step eta / gamma^k, momentum theta, mixing weights, participation, and what a missing
    message means."""

    kind: Literal["dfedavgm"] = "dfedavgm"
    eta: Annotated[float, Gt(0)] = 0.1
    gamma: Annotated[float, Ge(1)] = 1.0
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    mixing: Literal["metropolis", "uniform"] = "metropolis"
    on_loss: Literal["self", "naive"] = "self"
    participation: Annotated[float, Gt(0), Le(1)] = 1.0

    who: ClassVar = Who.MUTUAL
    fan_out: ClassVar = 0

    @property
    def share(self) -> float:
        """All neighbours are averaged, unless the experiment says otherwise."""
        return self.participation

    @property
    def step(self) -> FixedStep:
        """eta / gamma^k."""
        return FixedStep(eta=self.eta, gamma=self.gamma)

    def first_step(self, enough: int) -> float:
        """The step size at k = 0."""
        return self.step.size(0, enough)

    def node(self, context: Context) -> "Dfedavgm":
        """The state machine of one node."""
        return Dfedavgm(self, context)


class Dfedavgm:
    """One node of DFedAvgM."""

    delivery = Delivery.LATEST
    vectors: ClassVar = {"z": Form.DENSE}
    bundles: ClassVar = [frozenset({"z"})]
    desynchronised = 0

    def __init__(self, spec: DfedavgmSpec, context: Context) -> None:
        self._spec = spec
        self._context = context
        self._mixing = Mixing(context, spec.mixing)
        self._model = context.start
        self._velocity = np.zeros_like(context.start)
        self._average: Vector | None = None

    @property
    def model(self) -> Vector:
        """x_i^k."""
        return self._model

    def prepare(self, k: int) -> None:
        """Nothing precedes sending: the local steps are done."""

    def receivers(self, k: int) -> Sequence[int]:
        """The neighbours over active edges."""
        return self._context.selection.receivers(self._context.node, k)

    def message(self, k: int) -> Message:
        """The whole model."""
        return {"z": as_sent(self._model, self._context.values)}

    def wanted(self, k: int) -> Wanted | None:
        """At a round: the neighbours over active edges."""
        return self._context.selection.wanted(self._context.node, k)

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """The weighted sum of the models, its own included; the velocity begins anew."""
        models = {message.sender: dense(message, "z") for message in received}
        self._average = self._mixing.average(k, self._model, models, self._spec.on_loss)
        self._velocity = np.zeros_like(self._model)
        return float(len(received))

    def step(self, k: int) -> None:
        """A heavy-ball step from the average."""
        start = self._model if self._average is None else self._average
        self._average = None
        size = self._spec.step.size(k, 1)
        gradient = self._context.objective.gradient(start, k)
        with np.errstate(over="ignore", invalid="ignore"):
            self._velocity = self._spec.momentum * self._velocity - size * gradient
            self._model = check_finite(start + self._velocity, self._context.node, k, size)

    def greet(self, neighbour: int) -> None:
        """Nothing is remembered of anybody."""
