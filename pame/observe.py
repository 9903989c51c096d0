"""What a run tells whoever watches it; whoever drives it knows neither terminal nor file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Own:
    """The nodes' own models, each judged by itself on everybody's data: what a node really has."""

    objective: float
    """The mean over the nodes of f at the node's own model."""
    worst: float
    """The largest of these."""
    metrics: Mapping[str, float]
    """Means over the nodes."""
    lowest: Mapping[str, float]
    highest: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One point of the curves: the models of all nodes at an iteration, or at a moment of simulated time."""

    by: Literal["iteration", "time"]
    iteration: int
    """With `by: time`, the mean over the nodes, rounded down."""
    seconds: float | None
    bytes: int
    """Of all records so far; with `by: iteration`, of the iterations before this one."""
    objective: float
    """f(mean model), f the mean of the f_i."""
    consensus: float
    """Root mean square distance of the nodes' models from their mean."""
    coverage: float | None
    """Mean coverage of a coordinate over the rounds since the last evaluation; None if there was no round."""
    metrics: Mapping[str, float]
    """Of the mean model."""
    own: Own | None = None
    """None: not measured."""


@dataclass(frozen=True, slots=True)
class StoredModels:
    """The models of a point that were put aside, to be judged after the run."""

    mean: int
    """Where it is in the store."""
    own: tuple[int, ...]
    """Of the nodes that are judged by themselves, in their order; empty: of none."""
    consensus: float


@dataclass(frozen=True, slots=True)
class UnjudgedPoint:
    """A point of the curves but for what judging takes time: see `Evaluation`."""

    by: Literal["iteration", "time"]
    iteration: int
    seconds: float | None
    bytes: int
    coverage: float | None
    models: StoredModels


class ModelStore(Protocol):
    """Where the models of points go until the run is over."""

    def put(self, mean: NDArray[np.float64], own: NDArray[np.float64], consensus: float) -> StoredModels:
        """Take the mean of all models, and a row per node that is judged by itself; this takes time."""

    def add(self, point: UnjudgedPoint) -> None:
        """The next point."""


class Record(NamedTuple):
    """What one node did at one iteration. Without a clock the times are None; outside rounds the counts are 0."""

    node: int
    iteration: int
    seconds: float | None = None
    waited_s: float | None = None
    wanted: int = 0
    received: int = 0
    coverage: float | None = None
    starved: int = 0
    late: int = 0
    messages: int = 0
    """What its links took at this iteration, less what their full queues dropped then."""
    bytes: int = 0
    lost: int = 0
    """Messages of this iteration that were not sent, on purpose."""
    staleness: float | None = None
    """Mean age of the messages in the average in iterations; None if nothing was averaged."""


class Observer(Protocol):
    def evaluated(self, evaluation: Evaluation) -> None:
        """A point of the curves."""

    def recorded(self, records: Sequence[Record]) -> None:
        """Some nodes finished an iteration."""


class Several:
    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def evaluated(self, evaluation: Evaluation) -> None:
        for observer in self._observers:
            observer.evaluated(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        for observer in self._observers:
            observer.recorded(records)


@dataclass(frozen=True)
class RunOutcome:
    models: NDArray[np.float64]
    """The result of every node, one row each."""
    iterations: int
    seconds: float | None
    reason: str
    exact: bool
    """Nothing was lost, late, starved or evicted, and no patience ran out."""
