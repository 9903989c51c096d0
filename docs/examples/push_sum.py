"""An algorithm of your own whose messages hold a single number beside the model: push-sum with gradient steps.

At every iteration node j divides its mass x_j and its weight a_j among itself and the receivers it has now:

    x_i <- sum of the shares of x that reach i, its own too       a_i <- the same of the shares of a
    z_i = x_i / a_i                                               x_i <- x_i - eta grad f_i(z_i)

Who receives may be anything, and need not be mutual: no weights are doubly stochastic here. A node that gets more than
its part has a larger weight, too, and the ratio takes it back (Nedic and Olshevsky, 2015; Assran et al., 2019). The sum
of all weights stays the number of nodes. A share that is lost on purpose stays with its sender, since both ends can
compute the loss. One that is dropped unforeseen is gone with its weight: the ratios still agree, on an average that
leans a little, which is counted as `desynchronised`.

Run it with `pame --plugin docs/examples/push_sum.py run --set 'algorithm={kind: push-sum, eta: 0.05}'`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Le

from pame.algorithms import Context, Delivery, Form, Message, NodeBase, Received, Who
from pame.algorithms.gradient_step import check_finite, descend
from pame.exchange import as_sent


@dataclass(frozen=True)
class PushSumSpec:
    """What an experiment file may say.

    eta: the step
    participation: the share of its neighbours that a node listens to at a round
    """

    kind: Literal["push-sum"] = "push-sum"
    eta: Annotated[float, Gt(0)] = 0.05
    participation: Annotated[float, Gt(0), Le(1)] = 0.5

    who: ClassVar = Who.CHOSEN
    fan_out: ClassVar = 0

    @property
    def share(self) -> float:
        """Of its neighbours, a node listens to so many."""
        return self.participation

    def first_step(self, enough: int) -> float:
        """For the warning about steps that are too large."""
        return self.eta

    def node(self, context: Context) -> "PushSum":
        """The state machine of one node."""
        return PushSum(self, context)


class PushSum(NodeBase):
    """One node: its mass, its weight, and the model that is their ratio."""

    delivery = Delivery.IN_ORDER  # a share that comes late is still mass: none may be dropped
    vectors: ClassVar = {"x": Form.DENSE, "weight": Form.DENSE}
    bundles: ClassVar = [frozenset({"x", "weight"})]  # a message holds both
    lengths: ClassVar = {"weight": 1}  # all others have as many coordinates as the model

    def __init__(self, spec: PushSumSpec, context: Context) -> None:
        super().__init__(context)
        self._spec = spec
        self._mass = {"x": context.start, "weight": np.ones(1)}
        self._share: Message = {}

    def prepare(self, k: int) -> None:
        """Divide; as much is kept as is not sent, rounded as it is sent."""
        here, lost = self._context.node, self._context.is_lost
        copies = sum(not lost(here, receiver, k) for receiver in self.receivers(k))
        values = self._context.values
        shares = {name: as_sent(mass / (copies + 1), values) for name, mass in self._mass.items()}
        self._mass = {name: mass - copies * shares[name] for name, mass in self._mass.items()}
        self._share = shares

    def message(self, k: int) -> Message:
        """The same share for every receiver."""
        return self._share

    def missed(self, neighbour: int, k: int) -> None:
        """A share is gone."""
        self._gaps += 1

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """Add what came; in the order of the senders, so that every run has the same bits."""
        for one in sorted(received, key=lambda one: (one.sender, one.iteration)):
            self._mass = {name: mass + one.message[name] for name, mass in self._mass.items()}
        return float(len(received))

    def step(self, k: int) -> None:
        """The gradient is taken at the ratio, the step from the mass; afterwards the model is the new ratio."""
        weight, eta, here = self._mass["weight"], self._spec.eta, self._context.node
        gradient = self._context.objective.gradient(self._mass["x"] / weight, k)
        self._mass["x"] = descend(self._mass["x"], eta, gradient, here, k)
        self._model = check_finite(self._mass["x"] / weight, here, k, eta)


ALGORITHMS = [PushSumSpec]
