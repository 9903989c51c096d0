"""Points of the curves: f and test metrics of the mean model and of the nodes' own, consensus distance, coverage; and
the end of a diverging run.
"""

from collections.abc import Mapping, Sequence
from math import isfinite, nan, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pame.byte_account import ByteAccount, Fate
from pame.errors import Diverged
from pame.observe import Evaluation, Observer, Own, StoredModels, UnjudgedPoint
from pame.problems import ManyModels, Problem
from pame.problems.image_classification import ACCURACY
from pame.resolved_run import ResolvedRun
from pame.stopping import Stopper

OWN_AT_MOST = 128
"""So many nodes' own models are judged; of more nodes, so many evenly spread ones."""
_BLOWN_UP = 1e9


class Measured(NamedTuple):
    """f and the test metrics by name: of the mean model, and of the nodes' own."""

    objective: float
    metrics: Mapping[str, float]
    own: Own | None
    consensus: float


class _Kept(NamedTuple):
    models: NDArray[np.float64]
    iteration: int
    seconds: float | None
    sent: int


class Evaluator:
    """Evaluates the models of one run, tells the observer, and asks the stop rules."""

    def __init__(self, setting: ResolvedRun, account: ByteAccount, observer: Observer) -> None:
        self._setting = setting
        self._account = account
        self._observer = observer
        self._stopper = Stopper(setting.stop, setting.topology.nodes, setting.target_of_nodes)
        self._growth = Growth()
        self._coverage = {"iteration": _Mean(), "time": _Mean()}
        self._between: list[_Kept] = []
        self._before: Measured | None = None
        """The last point, if there are to be points between."""

    def due(self, iteration: int) -> bool:
        fine = self._setting.fine
        return (fine is not None and bool(fine.values)) or self._is_point(iteration)

    def _is_point(self, iteration: int) -> bool:
        return iteration % self._setting.evaluate_every == 0 or self._stopper.due(iteration)

    def covered(self, coverage: float) -> None:
        for mean in self._coverage.values():
            mean.add(coverage, 1)

    def covered_many(self, coverage: NDArray[np.float64]) -> None:
        for mean in self._coverage.values():
            mean.add(float(coverage.sum()), coverage.size)

    def evaluate(
        self,
        models: NDArray[np.float64],
        iteration: int,
        seconds: float | None = None,
        by: Literal["iteration", "time"] = "iteration",
        decides: bool = True,
        sent: int | None = None,
    ) -> str | None:
        """Make one point of the models of all nodes; the reason to stop there, if any."""
        fine = self._setting.fine
        if fine is None:
            return self.judge(self.measure(models), iteration, seconds, by, decides, sent)
        if by != fine.by:
            return None
        sent = self._account.bytes(Fate.SENT) if sent is None else sent
        if not self._is_point(iteration):
            self._between.append(_Kept(models.copy(), iteration, seconds, sent))
            return None
        measured = measure(self._setting.problem, models, self._setting.own_models)
        if self._before is not None and _passes(self._before, measured, fine.values):
            for kept in self._between:
                between = measure(self._setting.problem, kept.models, self._setting.own_models)
                self.judge(between, kept.iteration, kept.seconds, by, False, kept.sent)
        self._between, self._before = [], measured
        return self.judge(measured, iteration, seconds, by, decides, sent)

    def measure(self, models: NDArray[np.float64]) -> Measured | StoredModels:
        """The part of a point that takes time, and touches nothing but the store, if there is one."""
        setting, store = self._setting, self._setting.store
        if store is None:
            return measure(setting.problem, models, setting.own_models)
        mean, own = models.mean(axis=0), _judged_alone(models) if setting.own_models else models[:0]
        return store.put(mean, own, _consensus(models, mean))

    def judge(
        self,
        measured: Measured | StoredModels,
        iteration: int,
        seconds: float | None,
        by: Literal["iteration", "time"],
        decides: bool,
        sent: int | None,
    ) -> str | None:
        """Make one point, or put it aside; the reason to stop, if any. Only a curve that `decides` may stop a run.

        `sent` are the bytes sent until then, if they are not simply all that the account has.
        """
        coverage = self._coverage[by].take()
        if sent is None:
            sent = self._account.bytes(Fate.SENT)
        store = self._setting.store
        if isinstance(measured, StoredModels):
            if not isfinite(measured.consensus):
                raise Diverged(f"the run diverged: the nodes' models are no finite numbers at iteration {iteration}")
            if store is not None:
                store.add(UnjudgedPoint(by, iteration, seconds, sent, coverage, measured))
            return self._stopper.reason(iteration, nan) if decides else None
        objective, metrics, own, consensus = measured
        self._observer.evaluated(Evaluation(by, iteration, seconds, sent, objective, consensus, coverage, metrics, own))
        self._growth.check(objective, iteration)
        looked_at = own.objective if own and self._setting.target_of_nodes else objective
        return self._stopper.reason(iteration, looked_at, metrics.get(ACCURACY)) if decides else None


class Growth:
    """Ends a run whose f(mean model) has grown beyond all measure since its first point."""

    def __init__(self) -> None:
        self._first: float | None = None

    def check(self, objective: float, iteration: int) -> None:
        if self._first is None:
            self._first = objective
        if not isfinite(objective) or objective > _BLOWN_UP * (1.0 + abs(self._first)):
            change = f"f(mean model) rose from {self._first:.3g} to {objective:.3g}"
            raise Diverged(f"the run diverged: {change} by iteration {iteration}")


def measure(problem: Problem, models: NDArray[np.float64], own_models: bool) -> Measured:
    """All models of a point, in the order of the nodes."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = models.mean(axis=0)
        own = judge_own(problem, models) if own_models else None
        return Measured(problem.objective(mean), problem.metrics(mean), own, _consensus(models, mean))


def _consensus(models: NDArray[np.float64], mean: NDArray[np.float64]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return sqrt(float(np.square(models - mean).sum() / len(models)))


def _passes(before: Measured, after: Measured, values: Sequence[float]) -> bool:
    """Whether f, of the mean model or of the nodes' own, comes to one of these values or below it."""
    pairs = [(before.objective, after.objective)]
    if before.own and after.own:
        pairs.append((before.own.objective, after.own.objective))
    return any(first > value >= second for first, second in pairs for value in values)


class Judged(NamedTuple):
    """f and the test metrics by name of some models, in their order."""

    values: NDArray[np.float64]
    metrics: Mapping[str, NDArray[np.float64]]


def judge_own(problem: Problem, models: NDArray[np.float64]) -> Own:
    """Every node's model by itself. All drivers hand over all models in the order of the nodes: the same bits."""
    return own_of(judge_models(problem, _judged_alone(models)))


def _judged_alone(models: NDArray[np.float64]) -> NDArray[np.float64]:
    count = len(models)
    return models if count <= OWN_AT_MOST else models[np.arange(OWN_AT_MOST) * count // OWN_AT_MOST]


def judge_models(problem: Problem, models: NDArray[np.float64]) -> Judged:
    """Every model by itself."""
    if isinstance(problem, ManyModels):
        return Judged(problem.objectives(models), problem.metrics_of(models))
    values = np.array([problem.objective(model) for model in models])
    found = [problem.metrics(model) for model in models]
    return Judged(values, {name: np.array([one[name] for one in found]) for name in found[0]})


def own_of(judged: Judged) -> Own:
    values, metrics = judged
    return Own(
        objective=float(values.mean()),
        worst=float(values.max()),
        metrics={name: float(each.mean()) for name, each in metrics.items()},
        lowest={name: float(each.min()) for name, each in metrics.items()},
        highest={name: float(each.max()) for name, each in metrics.items()},
    )


class _Mean:
    """A mean that starts anew each time it is taken."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._count = 0

    def add(self, value: float, count: int) -> None:
        self._sum += value
        self._count += count

    def take(self) -> float | None:
        mean = self._sum / self._count if self._count else None
        self._sum, self._count = 0.0, 0
        return mean
