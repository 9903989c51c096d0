"""D-PSGD: every node averages its neighbours' whole models with fixed weights and takes a gradient step.

    x_i <- sum_j Q_ij x_j - eta/gamma^k grad f_i(x_i)           Q symmetric and doubly stochastic

A missing neighbour's weight goes to the node itself (`on_loss: self`). Treating it as zero (`naive`) shrinks the model
at every loss; it is here to show that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt

from pame.algorithms.descend import descend
from pame.algorithms.seam import Context, Delivery, Form, Message, Reach, Received
from pame.algorithms.selection import Wanted
from pame.algorithms.steps import FixedStep
from pame.exchange import PartialMessage, Vector, as_sent
from pame.topology import mixing_row


@dataclass(frozen=True)
class DpsgdSpec:
    """D-PSGD's parameters: step eta / gamma^k, mixing weights, and what a missing message means."""

    kind: Literal["dpsgd"] = "dpsgd"
    eta: Annotated[float, Gt(0)] = 0.1
    gamma: Annotated[float, Ge(1)] = 1.0
    mixing: Literal["metropolis", "uniform"] = "metropolis"
    on_loss: Literal["self", "naive"] = "self"

    @property
    def share(self) -> float:
        """Every neighbour is averaged."""
        return 1.0

    @property
    def step(self) -> FixedStep:
        """eta / gamma^k."""
        return FixedStep(eta=self.eta, gamma=self.gamma)

    def first_step(self, enough: int) -> float:
        """The step size at k = 0."""
        return self.step.size(0, enough)

    def node(self, context: Context) -> "Dpsgd":
        """The state machine of one node."""
        return Dpsgd(self, context)


class Dpsgd:
    """One node of D-PSGD."""

    delivery = Delivery.LATEST
    reach = Reach.NEIGHBOURS
    vectors: ClassVar = {"x": Form.DENSE}

    def __init__(self, spec: DpsgdSpec, context: Context) -> None:
        self._spec = spec
        self._context = context
        self._weights = mixing_row(context.topology, context.node, spec.mixing)
        self._model = context.start
        self._average: Vector | None = None

    @property
    def model(self) -> Vector:
        """x_i^k."""
        return self._model

    def prepare(self, k: int) -> None:
        """Nothing precedes sending: x^k is ready."""

    def receivers(self, k: int) -> Sequence[int]:
        """The neighbours that aggregate at k."""
        return self._context.selection.receivers(self._context.node, k)

    def message(self, k: int) -> Message:
        """The whole model."""
        return {"x": as_sent(self._model, self._context.values)}

    def wanted(self, k: int) -> Wanted | None:
        """At a round: every neighbour."""
        return self._context.selection.wanted(self._context.node, k)

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """The weighted sum of the models, in ascending order of the node, its own included."""
        models = {message.sender: _dense(message) for message in received}
        models[self._context.node] = self._model
        weights = dict(self._weights)
        missing = sum(weight for node, weight in weights.items() if node not in models)
        if self._spec.on_loss == "self":
            weights[self._context.node] += missing
        average = np.zeros_like(self._model)
        for node in sorted(models):
            average += weights[node] * models[node]
        self._average = average
        return float(len(received))

    def step(self, k: int) -> None:
        """The gradient is taken at the node's own model, before averaging."""
        size = self._spec.step.size(k, len(self._weights) - 1)
        gradient = self._context.objective.gradient(self._model, k)
        start = self._model if self._average is None else self._average
        self._average = None
        self._model = descend(start, size, gradient, self._context.node, k)


def _dense(received: Received) -> Vector:
    vector = received.message["x"]
    if isinstance(vector, PartialMessage):
        raise TypeError("D-PSGD was handed a partial message where it expects a whole model")
    return vector
