"""What the tests of the algorithms are made of: a small graph, regressions on it, objectives worked by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pame.algorithms import (
    Algorithm,
    AlgorithmSpec,
    AnqNidsSpec,
    BeerSpec,
    ChocoSpec,
    Context,
    DcdPsgdSpec,
    Selection,
    SquarmSpec,
    Who,
)
from pame.compressors import AdaptiveQuantizer, TopK
from pame.exchange import Vector
from pame.problems import LinearSpec, LocalObjective, LogisticSpec
from pame.problems.base import Matrix, Optimum
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from pame.rules import Messages, Values
from pame.stopping import StopRules
from pame.topology import Topology

SEED, NODES, N, ITERATIONS = 3, 6, 20, 20
EDGES = ((0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (2, 3), (4, 5))
DEGREES = (5, 2, 3, 2, 2, 2)
ALWAYS = (1,) * NODES
DIFFERENT = (1, 3, 2, 5, 2, 4)
UNEQUAL = (1, 2, 3, 2, 1, 4)

BEER = BeerSpec(eta=0.05, gam=0.3, compressor=TopK(share=0.2))
ANQ_NIDS = AnqNidsSpec(eta=0.1, compressor=AdaptiveQuantizer(eta=0.01, shrink=0.97))
"""Two that end at the optimum itself."""

AnyReplicaSpec = ChocoSpec | BeerSpec | AnqNidsSpec | DcdPsgdSpec | SquarmSpec
OnLoss = Literal["acknowledged", "resync", "naive"]


def graph(nodes: int = NODES, edges: Sequence[tuple[int, int]] = EDGES) -> Topology:
    return Topology(nodes, np.array(edges, dtype=np.int64))


def neighbours_in(edges: Sequence[tuple[int, int]], node: int) -> list[int]:
    return sorted({a + b - node for a, b in edges if node in (a, b)})


NEIGHBOURS = [neighbours_in(EDGES, node) for node in range(NODES)]


@cache
def linear(batch: int | None = None, nodes: int = NODES, samples: int = 40) -> Regression:
    spec = LinearSpec(n=N, samples=samples, batch=batch, nonzeros=0.5, feature_shift=0.5, test_samples=5)
    return spec.build(nodes, SEED)


@cache
def logistic(batch: int | None = None) -> Regression:
    """Strongly convex, and no two nodes have the same minimiser; all gradients are smooth with L = 1.1."""
    spec = LogisticSpec(
        n=N, samples=30, batch=batch, regularisation=0.2, feature_shift=0.5, truth_shift=1.0, test_samples=5
    )
    return spec.build(NODES, SEED)


def setting_of(
    spec: AlgorithmSpec,
    problem: Regression | None = None,
    periods: tuple[int, ...] = ALWAYS,
    iterations: int = ITERATIONS,
    loss: float = 0.0,
    values: Values = "float64",
    **changes: Any,
) -> ResolvedRun:
    """On the linear regression unless told otherwise."""
    problem, rules = problem or linear(), Messages(values=values, loss=loss)
    setting = ResolvedRun(SEED, graph(), problem, spec, periods, StopRules(iterations), messages=rules)
    return replace(setting, evaluate_every=50, **changes)


def with_loss(spec: AnyReplicaSpec, on_loss: OnLoss, resync_every: int = 1) -> AnyReplicaSpec:
    return replace(spec, on_loss=on_loss, resync_every=resync_every)


def context_of(
    start: Sequence[float] | Vector,
    objective: LocalObjective | None = None,
    topology: Topology | None = None,
    who: Who = Who.CHOSEN,
    node: int = 0,
    fan_out: int = 0,
    period: int = 1,
    share: float = 1.0,
    **more: Any,
) -> Context:
    """A node on its own, of a pair unless told otherwise: no force without an objective."""
    topology = topology or graph(2, ((0, 1),))
    selection = Selection(1, topology, (period,) * topology.nodes, share, who=who, fan_out=fan_out)
    objective = objective or Constant(np.zeros(len(start)))
    return Context(1, node, topology, selection, objective, np.array(start), **more)


def still_nodes(spec: AlgorithmSpec, starts: Matrix) -> list[Algorithm]:
    """Nodes without gradients, each with a start of its own."""
    selection = Selection(SEED, graph(), ALWAYS, spec.share, who=spec.who, fan_out=spec.fan_out)
    still = Constant(np.zeros(starts.shape[1]))
    return [spec.node(Context(SEED, i, graph(), selection, still, starts[i])) for i in range(NODES)]


@dataclass(frozen=True)
class Pull:
    """f_i(w) = sum_j curvature_j (w_j - target_j)^2 / 2 at the iterations before `until`, and no force afterwards."""

    target: Vector
    until: float = np.inf
    curvature: Vector = field(default_factory=lambda: np.ones(1))
    samples: int = 1

    def value(self, model: Vector) -> float:
        return float((self.curvature * (model - self.target) ** 2).sum()) / 2

    def gradient(self, model: Vector, iteration: int) -> Vector:
        return self.full_gradient(model) if iteration < self.until else np.zeros_like(model)

    def full_gradient(self, model: Vector) -> Vector:
        return self.curvature * (model - self.target)

    def smoothness(self) -> float:
        return float(self.curvature.max())


@dataclass(frozen=True)
class Constant:
    """An objective with the same gradient everywhere."""

    slope: Vector
    samples: int = 1

    def value(self, model: Vector) -> float:
        return float(self.slope @ model)

    def gradient(self, model: Vector, iteration: int) -> Vector:
        return self.slope

    def full_gradient(self, model: Vector) -> Vector:
        return self.slope

    def smoothness(self) -> float:
        return 0.0


class Asked(Constant):
    """No force, but it remembers which gradients it was asked for."""

    def __init__(self, n: int) -> None:
        super().__init__(np.zeros(n))
        object.__setattr__(self, "asked", [])
        self.asked: list[tuple[list[float], int]]

    def gradient(self, model: Vector, iteration: int) -> Vector:
        self.asked.append((model.tolist(), iteration))
        return self.slope


@dataclass(frozen=True)
class Pulls:
    """One pull per node, as a problem."""

    targets: Matrix
    until: float = np.inf
    metric: str = "distance"

    @property
    def n(self) -> int:
        return int(self.targets.shape[1])

    @property
    def nodes(self) -> int:
        return len(self.targets)

    def local(self, node: int) -> Pull:
        return Pull(self.targets[node], self.until)

    @property
    def start(self) -> Vector:
        return np.zeros(self.n)

    def objective(self, model: Vector) -> float:
        return sum(self.local(node).value(model) for node in range(self.nodes)) / self.nodes

    def optimum(self) -> Optimum:
        mean: NDArray[np.float64] = self.targets.mean(axis=0)
        return Optimum(mean, self.objective(mean), "the mean of the targets")

    def metrics(self, model: Vector) -> dict[str, float]:
        return {self.metric: float(np.linalg.norm(model - self.targets.mean(axis=0)))}
