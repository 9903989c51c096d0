"""An algorithm of your own: gossip with the coordinate-wise median, which a few wild neighbours cannot move far.

    x_i <- median(x_i, {x_j}) - eta grad f_i(x_i)

Run it with `pame --plugin docs/examples/median_gossip.py run --set 'algorithm={kind: median-gossip, eta: 0.05}'`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt

from pame.algorithms import Context, Delivery, Form, Message, Received, Wanted, Who
from pame.exchange import Vector, as_sent


@dataclass(frozen=True)
class MedianGossipSpec:
    """What an experiment file may say: the parameters, their bounds and defaults."""

    kind: Literal["median-gossip"] = "median-gossip"
    eta: Annotated[float, Gt(0)] = 0.05

    share: ClassVar = 1.0  # of its neighbours, a node listens to all
    who: ClassVar = Who.CHOSEN
    fan_out: ClassVar = 0

    def first_step(self, enough: int) -> float:
        """For the warning about steps that are too large."""
        return self.eta

    def node(self, context: Context) -> "MedianGossip":
        """The state machine of one node."""
        return MedianGossip(self, context)


class MedianGossip:
    """One node: it knows its data and what arrives, and nothing of networks or clocks."""

    delivery = Delivery.LATEST
    vectors: ClassVar = {"x": Form.DENSE}
    bundles: ClassVar = [frozenset({"x"})]
    desynchronised = 0

    def __init__(self, spec: MedianGossipSpec, context: Context) -> None:
        self._spec, self._context = spec, context
        self.model: Vector = context.start
        self._middle: Vector | None = None

    def prepare(self, k: int) -> None:
        """Nothing precedes sending."""

    def receivers(self, k: int) -> Sequence[int]:
        """Whom to send to at k: a public draw."""
        return self._context.selection.receivers(self._context.node, k)

    def message(self, k: int) -> Message:
        """The whole model."""
        return {"x": as_sent(self.model, self._context.values)}

    def wanted(self, k: int) -> Wanted | None:
        """Whose messages are waited for at k."""
        return self._context.selection.wanted(self._context.node, k)

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """What came, possibly nothing; in the order of the senders, so that every run has the same bits."""
        others = [message.message["x"] for message in sorted(received, key=lambda message: message.sender)]
        self._middle = np.median(np.stack([self.model, *others]), axis=0)
        return float(len(received))

    def step(self, k: int) -> None:
        """The local step: afterwards `model` is w^{k+1}."""
        start = self.model if self._middle is None else self._middle
        self.model = start - self._spec.eta * self._context.objective.gradient(self.model, k)
        self._middle = None

    def greet(self, neighbour: int) -> None:
        """Nothing is remembered of anybody."""


ALGORITHMS = [MedianGossipSpec]
