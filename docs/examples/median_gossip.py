"""An algorithm of your own: gossip with the coordinate-wise median, which a few wild neighbours cannot move far.

    x_i <- median(x_i, {x_j}) - eta grad f_i(x_i)

Run it with `pame --plugin docs/examples/median_gossip.py run --set 'algorithm={kind: median-gossip, eta: 0.05}'`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt

from pame.algorithms import Context, Form, Message, NodeBase, Received, Who
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


class MedianGossip(NodeBase):
    """One node: it knows its data and what arrives, and nothing of networks or clocks.

    At each iteration `prepare`, `receivers`, `message`, `wanted`, `absorb` and `step` are called, in this order; those
    that are not here do what most do.
    """

    vectors: ClassVar = {"x": Form.DENSE}
    bundles: ClassVar = [frozenset({"x"})]

    def __init__(self, spec: MedianGossipSpec, context: Context) -> None:
        super().__init__(context)
        self._spec = spec
        self._middle: Vector | None = None

    def message(self, k: int) -> Message:
        """The whole model."""
        return {"x": as_sent(self._model, self._context.values)}

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """What came, possibly nothing; in the order of the senders, so that every run has the same bits."""
        others = [message.message["x"] for message in sorted(received, key=lambda message: message.sender)]
        self._middle = np.median(np.stack([self._model, *others]), axis=0)
        return float(len(received))

    def step(self, k: int) -> None:
        """The local step: afterwards the model is w^{k+1}."""
        start = self._model if self._middle is None else self._middle
        self._model = start - self._spec.eta * self._context.objective.gradient(self._model, k)
        self._middle = None


ALGORITHMS = [MedianGossipSpec]
