"""D-PSGD: every node averages its neighbours' whole models with fixed weights and takes a gradient step.

    x_i <- sum_j Q_ij x_j - eta/gamma^k grad f_i(x_i)           Q symmetric and doubly stochastic

A missing neighbour's weight goes to the node itself (`on_loss: self`). Treating it as zero (`naive`) shrinks the model
at every loss; it is here to show that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from pame.algorithms.descend import descend
from pame.algorithms.seam import Context, Delivery, Form, Message, Received
from pame.algorithms.selection import Wanted, Who
from pame.algorithms.steps import FixedStep
from pame.exchange import Vector, as_sent
from pame.topology import mixing_row


@dataclass(frozen=True)
class DpsgdSpec:
    """D-PSGD's parameters: step eta / gamma^k, mixing weights, what a missing message means; and for comparisons the
    share of the neighbours that a node draws, and whether an edge takes part only if both of its ends have drawn it."""

    kind: Literal["dpsgd"] = "dpsgd"
    eta: Annotated[float, Gt(0)] = 0.1
    gamma: Annotated[float, Ge(1)] = 1.0
    mixing: Literal["metropolis", "uniform"] = "metropolis"
    on_loss: Literal["self", "naive"] = "self"
    participation: Annotated[float, Gt(0), Le(1)] = 1.0
    mutual: bool = False

    @property
    def share(self) -> float:
        """All neighbours are averaged, unless the experiment says otherwise."""
        return self.participation

    @property
    def step(self) -> FixedStep:
        """eta / gamma^k."""
        return FixedStep(eta=self.eta, gamma=self.gamma)

    @property
    def who(self) -> Who:
        """Whom a node has drawn; or, mutual, who has drawn it, too."""
        return Who.MUTUAL if self.mutual else Who.CHOSEN

    fan_out: ClassVar = 0

    def first_step(self, enough: int) -> float:
        """The step size at k = 0."""
        return self.step.size(0, enough)

    def node(self, context: Context) -> "Dpsgd":
        """The state machine of one node."""
        return Dpsgd(self, context)


class Dpsgd:
    """One node of D-PSGD."""

    delivery = Delivery.LATEST
    vectors: ClassVar = {"x": Form.DENSE}
    bundles: ClassVar = [frozenset({"x"})]
    desynchronised = 0

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
        weights, here = dict(self._weights), self._context.node
        asked = {here, *self._context.selection.senders(here, k)}
        idle = sum(weight for node, weight in weights.items() if node not in asked)
        missing = sum(weight for node, weight in weights.items() if node in asked and node not in models)
        weights[here] += idle + (missing if self._spec.on_loss == "self" else 0.0)
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

    def greet(self, neighbour: int) -> None:
        """Nothing is remembered of anybody."""


def _dense(received: Received) -> Vector:
    vector = received.message["x"]
    if not isinstance(vector, np.ndarray):
        raise TypeError(f"D-PSGD was handed a {type(vector).__name__} where it expects a whole model")
    return vector
