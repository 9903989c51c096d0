"""What nearly all algorithms do alike: the parameters of those that mix with Q, and a node's routine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from pame.algorithms.interface import Context, Delivery, Received
from pame.algorithms.mixing import Weights
from pame.algorithms.selection import Wanted, Who
from pame.algorithms.step_sizes import FixedStep
from pame.exchange import Vector


@dataclass(frozen=True)
class MixingSpec:
    """What every algorithm that mixes with Q may be told.

    eta: the step is eta / gamma^k
    gamma: by how much the step shrinks per iteration; 1: it stays
    mixing: the weights Q, metropolis (1 / (1 + the larger degree)) or uniform (1 / (1 + the largest of all degrees)) of
        the whole graph; active: metropolis weights of the edges that take part in the round
    participation: the share of its neighbours that take part in a round
    draw: who draws the edges of a round, both ends (mutual: an edge counts if each drew the other) or the edge itself
        (shared: one draw that both ends know)
    """

    eta: Annotated[float, Gt(0)] = 0.1
    gamma: Annotated[float, Ge(1)] = 1.0
    mixing: Weights = "metropolis"
    participation: Annotated[float, Gt(0), Le(1)] = 1.0
    draw: Literal["mutual", "shared"] = "mutual"

    @property
    def share(self) -> float:
        """All neighbours, unless the experiment says otherwise."""
        return self.participation

    @property
    def who(self) -> Who:
        """Over edges on which both ends agree."""
        return Who.SHARED if self.draw == "shared" else Who.MUTUAL

    @property
    def fan_out(self) -> int:
        """Only neighbours are within reach."""
        return 0

    @property
    def step(self) -> FixedStep:
        """eta / gamma^k."""
        return FixedStep(eta=self.eta, gamma=self.gamma)

    def first_step(self, enough: int) -> float:
        return self.step.size(0, enough)


class NodeBase:
    """A node that remembers nothing of others and has nothing to do before it sends, unless it says otherwise.

    What it sends, how it takes in what came, and its step are the algorithm's (`seam.Algorithm`)."""

    delivery = Delivery.LATEST
    lengths: Mapping[str, int] = MappingProxyType({})

    def __init__(self, context: Context) -> None:
        self._context = context
        self._model = context.start
        self._gaps = 0

    @property
    def model(self) -> Vector:
        """Before iteration k it is that of k."""
        return self._model

    @property
    def desynchronised(self) -> int:
        return self._gaps

    def prepare(self, k: int) -> None:
        """Nothing precedes sending."""

    def receivers(self, k: int) -> Sequence[int]:
        return self._context.selection.receivers(self._context.node, k)

    def wanted(self, k: int) -> Wanted | None:
        return self._context.selection.wanted(self._context.node, k)

    def missed(self, neighbour: int, k: int) -> None:
        """A message is missing, not more."""

    def greet(self, neighbour: int) -> None:
        """Nothing is remembered of anybody."""


def dense(received: Received, name: str) -> Vector:
    """A vector of a message that travels whole."""
    vector = received.message[name]
    if not isinstance(vector, np.ndarray):
        raise TypeError(f"{name!r} came as a {type(vector).__name__} where a whole vector is expected")
    return vector
