"""DFedSAM: local steps of sharpness-aware minimisation, and a gossip average of the models at every round.

    at a round:  y_i = sum_j Q_ij x_j        else:  y_i = x_i
    x_i <- y_i - eta/gamma^k g_i(y_i + rho g_i(y_i) / ||g_i(y_i)||)

Both gradients are of the same mini-batch. The E local steps of a round in the paper (Shi et al., ICML 2023) are a
period of E here: one iteration is one local step. The round comes first and the step after it, so the model after the
last local step is what the paper calls z, which is what the nodes send.

Missing messages are handled as in D-PSGD: the weight goes to the node itself, or (`naive`) the model counts as zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from pame.algorithms.descend import descend
from pame.algorithms.mixing import Mixing, dense
from pame.algorithms.seam import Context, Delivery, Form, Message, Received
from pame.algorithms.selection import Wanted, Who
from pame.algorithms.steps import FixedStep
from pame.exchange import Vector, as_sent


@dataclass(frozen=True)
class DfedsamSpec:
    """DFedSAM's parameters: step eta / gamma^k, radius rho of the perturbation, mixing weights, participation, and what
    a missing message means."""

    kind: Literal["dfedsam"] = "dfedsam"
    eta: Annotated[float, Gt(0)] = 0.1
    gamma: Annotated[float, Ge(1)] = 1.0
    rho: Annotated[float, Ge(0)] = 0.01
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

    def node(self, context: Context) -> "Dfedsam":
        """The state machine of one node."""
        return Dfedsam(self, context)


class Dfedsam:
    """One node of DFedSAM."""

    delivery = Delivery.LATEST
    vectors: ClassVar = {"z": Form.DENSE}
    bundles: ClassVar = [frozenset({"z"})]
    desynchronised = 0

    def __init__(self, spec: DfedsamSpec, context: Context) -> None:
        self._spec = spec
        self._context = context
        self._mixing = Mixing(context, spec.mixing)
        self._model = context.start
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
        """The weighted sum of the models, its own included."""
        models = {message.sender: dense(message, "z") for message in received}
        self._average = self._mixing.average(k, self._model, models, self._spec.on_loss)
        return float(len(received))

    def step(self, k: int) -> None:
        """A gradient step from the average, with the gradient at the worst point nearby."""
        start = self._model if self._average is None else self._average
        self._average = None
        objective, size = self._context.objective, self._spec.step.size(k, 1)
        slope = objective.gradient(start, k)
        steepness = float(np.sqrt(slope @ slope))
        if self._spec.rho > 0.0 and steepness > 0.0:
            slope = objective.gradient(start + self._spec.rho / steepness * slope, k)
        self._model = descend(start, size, slope, self._context.node, k)

    def greet(self, neighbour: int) -> None:
        """Nothing is remembered of anybody."""
