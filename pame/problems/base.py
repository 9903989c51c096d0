"""What every learning problem offers, whoever drives it: a node, the simulator or a report.

f(w) = (1/m) sum_i f_i(w)      m nodes, f_i from node i's shard alone
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pame.errors import ParameterError

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The minimiser of f, the value there, and by which method and how accurately it was found."""

    model: Vector
    objective: float
    how: str


class LocalObjective(Protocol):
    """f_i: what one node knows of the problem."""

    @property
    def samples(self) -> int:
        """How many samples the node has."""

    def value(self, model: Vector) -> float:
        """f_i(w) on all of the node's samples."""

    def gradient(self, model: Vector, iteration: int) -> Vector:
        """grad f_i(w), on the mini-batch of that iteration if the problem has one."""

    def full_gradient(self, model: Vector) -> Vector:
        """grad f_i(w) on all of the node's samples."""

    def smoothness(self) -> float | None:
        """A Lipschitz constant of grad f_i; None if none is known."""


class Stacked(Protocol):
    """All nodes at once, for the vectorised simulator: equal to the nodes one by one up to rounding."""

    def gradient(self, models: Matrix, iteration: int) -> Matrix:
        """Row i is grad f_i at row i of `models`."""

    def objective(self, model: Vector) -> float:
        """f(w)."""


class Problem(Protocol):
    """A learning problem shared out over `nodes` nodes, with models in R^n."""

    @property
    def n(self) -> int:
        """The dimension of a model."""

    @property
    def nodes(self) -> int:
        """How many nodes share the problem."""

    @property
    def metric(self) -> str:
        """The name of the test metric a report shows first."""

    @property
    def start(self) -> Vector:
        """w^0, the same at every node."""

    def local(self, node: int) -> LocalObjective:
        """f_i; its shard is generated at the first use, and no other node's."""

    def objective(self, model: Vector) -> float:
        """f(w), the mean over the nodes of f_i(w)."""

    def optimum(self) -> Optimum | None:
        """The minimiser of f, computed afresh; None if nobody can."""

    def metrics(self, model: Vector) -> dict[str, float]:
        """How good a model is on data no node has seen, by name."""


def known_optimum(problem: Problem) -> Optimum:
    """For whoever cannot do without: ParameterError if nobody knows it."""
    optimum = problem.optimum()
    if optimum is None:
        raise ParameterError("the optimum of this problem is not known, and it is needed here: use linear or logistic")
    return optimum


@runtime_checkable
class StackedProblem(Protocol):
    """What a problem may offer beside: all nodes at once, which the vectorised simulator needs."""

    def stacked(self) -> Stacked:
        """All f_i on one array; the shards of the local objectives become views into it."""


@runtime_checkable
class ManyModels(Protocol):
    """What a problem may offer beside: many models judged at once. A problem without it is asked model by model."""

    def objectives(self, models: Matrix) -> Vector:
        """f at each row."""

    def metrics_of(self, models: Matrix) -> Mapping[str, Vector]:
        """The metrics of each row, by name."""


@runtime_checkable
class SinglePrecision(Protocol):
    """What a problem may offer beside: models are rounded to float32 before they are judged, each by itself."""

    judged_in: type[np.float32]


class ProblemSpec(Protocol):
    """The part of an experiment file that names a problem and its parameters."""

    @property
    def kind(self) -> str:
        """The name the problem is registered under."""

    def build(self, nodes: int, seed: int) -> Problem:
        """The problem; raises ParameterError if its parameters contradict each other."""
