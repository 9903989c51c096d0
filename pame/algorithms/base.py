"""What nearly all algorithms do alike: the parameters of those that mix with Q, and a node's routine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np
from annotated_types import Ge, Gt, Le

from pame.algorithms.gradient_step import check_finite, descend
from pame.algorithms.interface import Context, Delivery, Received
from pame.algorithms.mixing import Weights
from pame.algorithms.selection import Wanted, Who
from pame.algorithms.step_sizes import FixedStep, Step
from pame.exchange import Vector


@dataclass(frozen=True)
class DescendingSpec:
    """What every algorithm whose step shrinks by itself may be told.

    eta: the step is eta / gamma^k
    gamma: by how much the step shrinks per iteration; 1: it stays
    """

    eta: Annotated[float, Gt(0)] = 0.1
    gamma: Annotated[float, Ge(1)] = 1.0

    @property
    def step(self) -> FixedStep:
        return FixedStep(eta=self.eta, gamma=self.gamma)

    def first_step(self, enough: int) -> float:
        return self.step.size(0, enough)


@dataclass(frozen=True)
class MixingSpec(DescendingSpec):
    """Those of descending, and what every algorithm that mixes with Q may be told.

    mixing: the weights Q, metropolis (1 / (1 + the larger degree)) or uniform (1 / (1 + the largest of all degrees)) of
        the whole graph; active: metropolis weights of the edges that take part in the round
    participation: the share of its neighbours that take part in a round
    draw: who draws the edges of a round, both ends (mutual: an edge counts if each drew the other) or the edge itself
        (shared: one draw that both ends know)
    """

    mixing: Weights = "metropolis"
    participation: Annotated[float, Gt(0), Le(1)] = 1.0
    draw: Literal["mutual", "shared"] = "mutual"

    fan_out: ClassVar = 0

    @property
    def share(self) -> float:
        return self.participation

    @property
    def who(self) -> Who:
        return Who.SHARED if self.draw == "shared" else Who.MUTUAL


class NodeBase:
    """A node that remembers nothing of others and has nothing to do before it sends, unless it says otherwise.

    What it sends, how it takes in what came, and its step are the algorithm's (`interface.Algorithm`)."""

    delivery = Delivery.LATEST
    lengths: Mapping[str, int] = MappingProxyType({})

    def __init__(self, context: Context) -> None:
        self._context = context
        self._model = context.start
        self._gaps = 0

    @property
    def model(self) -> Vector:
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


class SteppingSpec(Protocol):
    @property
    def step(self) -> Step: ...


Spec = TypeVar("Spec", bound=SteppingSpec)


class SteppingNode(NodeBase, Generic[Spec]):
    """One whose spec has a step size."""

    def __init__(self, spec: Spec, context: Context) -> None:
        super().__init__(context)
        self._spec = spec
        self._enough = 1
        """t_i, by which some steps are divided."""
        self._average: Vector | None = None
        """Of the round; None: this is none."""
        self._ahead: Vector = context.start
        """Of who steps before it sends: where that led."""

    @property
    def _own(self) -> Vector:
        """What it averages with what comes."""
        return self._model

    def _take_average(self) -> Vector:
        """The average at a round, else its own."""
        start = self._own if self._average is None else self._average
        self._average = None
        return start

    def _size(self, k: int) -> float:
        return self._spec.step.size(k, self._enough)

    def _gradient(self, k: int, at: Vector | None = None) -> Vector:
        return self._context.objective.gradient(self._model if at is None else at, k)

    def _descend(self, k: int, start: Vector, slope: Vector) -> Vector:
        return descend(start, self._size(k), slope, self._context.node, k)

    def _finite(self, k: int, model: Vector) -> Vector:
        return check_finite(model, self._context.node, k, self._size(k))


def dense(received: Received, name: str) -> Vector:
    vector = received.message[name]
    if not isinstance(vector, np.ndarray):
        raise TypeError(f"{name!r} came as a {type(vector).__name__} where a whole vector is expected")
    return vector
