"""What a run took to each target, from its curve: the same code for the simulator and for real nodes.

The yardstick is the relative suboptimality (f(mean model) - f*) / (f(0) - f*): from 1 at the start to 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from orchestrator.compare.company import ITERATIONS, Company
from orchestrator.compare.grid import Cell, Values, View
from orchestrator.report.points import Point
from pame.setting import Setting
from pame.stopping import PaperRule, Stopper, StopRules

ACCURACY = "test_accuracy"
"""The metric that an accuracy target is about."""
_NEVER = 2**62
_PERCENT = 100.0

HOW = {
    "relative suboptimality": "(f(mean model) - f*) / (f(0) - f*), f the mean of the nodes' objectives on all their "
    "samples; f* is solved on all nodes' data, once per seed",
    "to a target": "the first point of a run's curve at or below it; points are check_every iterations apart, the same "
    "for all, and no run stops there",
    "accuracy": "test accuracy of the mean of all nodes' models; the target is the best that any algorithm reached "
    "with the same seed, in either view, less the points allowed",
    "stop rule": "the paper's: the population standard deviation of three consecutive values of the sum of the nodes' "
    "objectives at the mean model is below 1e-3, looked at every check_every iterations; it stops no run here",
    "rounds": "communication rounds: iterations at which a node aggregates, the mean over the nodes, whether or not "
    "anybody takes part",
    "company": f"by the public draws, in the first {ITERATIONS} iterations, if nothing is late or lost: with how many "
    "others a node mixes at a round, at how many of its rounds there is nobody, and how many messages it sends at one; "
    "algorithms with replicas send to all their neighbours, for all keep one",
    "bytes": "exact size of every encoded payload sent by all nodes in the iterations before that point: by the codec "
    "in the simulator, counted by every node on a network; protobuf, gRPC and TCP/IP not included",
    "seconds": "simulated: compute and link times of the base experiment under a virtual clock (none: not measured); "
    "on a network: real time by the orchestrator's clock until every node was there; an iteration is given one "
    "compute.step, although DFedSAM takes two gradients in it, and DMGT-SVRG two or more",
    "tuning": "in the simulator, on a seed of its own; at most the same number of runs for each algorithm and view, "
    "fewer where its grid has fewer settings (chosen settings says how many each had); the best run reaches the most "
    "targets, then the tightest of these in the fewest iterations, then the lowest suboptimality; "
    "tuning runs stop at the tightest target, or earlier where the file says so; a run that diverged comes last",
    "medians and ranges": "over the seeds; a run that does not reach a target counts as later than any that does",
}
"""What the figures mean."""


@dataclass(frozen=True)
class Stick:
    """f at the start and at the optimum."""

    start: float
    best: float

    def left(self, objective: float) -> float:
        """The relative suboptimality."""
        return (objective - self.best) / (self.start - self.best)

    def objective(self, left: float) -> float:
        """f at a relative suboptimality."""
        return self.best + left * (self.start - self.best)


@dataclass(frozen=True)
class Mark:
    """One point of a run's curve, and what it had taken."""

    iteration: int
    rounds: float
    bytes: float
    seconds: float | None
    objective: float
    left: float
    accuracy: float | None = None


@dataclass(frozen=True)
class Row:
    """One run, measured."""

    cell: Cell
    backend: str
    status: str
    marks: tuple[Mark, ...]
    company: Company
    cpu_bound: bool = False
    health: str = ""
    """Of a run on nodes; empty: nobody knows."""
    health_reason: str = ""

    @property
    def left(self) -> float | None:
        """The relative suboptimality at the end."""
        return self.marks[-1].left if self.marks else None

    @property
    def accuracy(self) -> float | None:
        """The best test accuracy on the way."""
        return max((mark.accuracy for mark in self.marks if mark.accuracy is not None), default=None)

    def plain(self) -> dict[str, Any]:
        """For a line of JSON."""
        return {
            "algorithm": self.cell.algorithm,
            "view": self.cell.view.value,
            "values": dict(self.cell.values),
            "seed": self.cell.seed,
            "backend": self.backend,
            "status": self.status,
            "cpu_bound": self.cpu_bound,
            "health": self.health,
            "health_reason": self.health_reason,
            "company": asdict(self.company),
            "marks": [asdict(mark) for mark in self.marks],
        }


def marks_of(points: Iterable[Point], periods: Sequence[int], stick: Stick, by: str) -> tuple[Mark, ...]:
    """The points of one of a run's curves, measured; those that are not finite are left out."""
    return tuple(
        Mark(
            iteration=int(point.iteration),
            rounds=rounds_before(periods, int(point.iteration)),
            bytes=point.bytes,
            seconds=point.seconds,
            objective=point.objective,
            left=stick.left(point.objective),
            accuracy=point.metrics.get(ACCURACY),
        )
        for point in points
        if point.by == by
        and point.iteration is not None
        and point.bytes is not None
        and point.objective is not None
        and isfinite(point.objective)
    )


def rounds_before(periods: Sequence[int], iteration: int) -> float:
    """How many rounds a node has had before an iteration, the mean over the nodes; round 0 is one."""
    return sum(-(-iteration // period) for period in periods) / len(periods)


def decisive_curve(setting: Setting) -> str:
    """By iteration; by time where complete sets of models lag behind, or never come."""
    slow = setting.compute.slow_nodes(setting.seed, setting.topology.nodes)
    return "time" if slow or not setting.misfortune.is_public else "iteration"


def to_suboptimality(row: Row, target: float) -> Mark | None:
    """Where a run first was at or below a target; None: it was not."""
    return next((mark for mark in row.marks if mark.left <= target), None)


def to_accuracy(row: Row, goal: float | None) -> Mark | None:
    """Where a run first was at or above a test accuracy."""
    if goal is None:
        return None
    return next((mark for mark in row.marks if mark.accuracy is not None and mark.accuracy >= goal), None)


def under_stop_rule(row: Row, nodes: int, every: int) -> Mark | None:
    """Where the paper's rule would have stopped a run."""
    stopper = Stopper(StopRules(iterations=_NEVER, scale=nodes, paper=PaperRule(every=every)))
    return next((mark for mark in row.marks if stopper.reason(mark.iteration, mark.objective) is not None), None)


def accuracy_goals(rows: Iterable[Row], points: float) -> dict[int, float]:
    """By seed: so many percentage points below the best accuracy of all runs."""
    best: dict[int, float] = {}
    for row in rows:
        if row.accuracy is not None:
            best[row.cell.seed] = max(row.accuracy, best.get(row.cell.seed, 0.0))
    return {seed: value - points / _PERCENT for seed, value in best.items()}


def of_cell(rows: Iterable[Row], view: View, algorithm: str, values: Values | None = None) -> list[Row]:
    """The runs of an algorithm in a view, by seed; `values`: only those with these settings."""
    found = [
        row
        for row in rows
        if (row.cell.view, row.cell.algorithm) == (view, algorithm) and values in (None, row.cell.values)
    ]
    return sorted(found, key=lambda row: row.cell.seed)
