"""The course of one run: what it had cost, and what was left, at every point of its curve."""

from dataclasses import asdict, dataclass, replace
from math import inf

from orchestrator.campaigns.cell import Look, Measurement, Run
from orchestrator.campaigns.run_left import RunLeft
from orchestrator.campaigns.yardstick import Yardstick, yardstick_of
from pame.resolved_run import ResolvedRun

_ERROR = "model_error"

HOW = {
    "left": "the relative suboptimality (f(mean model) - f*) / (f(0) - f*), f the mean of the nodes' objectives on all "
    "their samples, f* solved on all nodes' data: from 1 at the start to 0; the mean of all models averages once "
    "more for free, so that the nodes' own are further away: these are judged in comparisons, and not looked at here",
    "to the target": "the first point of a run's curve at or below the target; how far points are apart stands in the "
    "experiment (evaluate.every)",
    "MSE": "||mean model - true model||^2, as the paper's table is read",
    "rounds": "communication rounds: iterations at which a node aggregates, the mean over the nodes",
    "bytes": "exact size of every encoded payload that all nodes sent; headers of the transport not included",
    "effect": "the geometric mean of the ratio of two runs with the same seed, over the seeds (or the mean of a "
    "difference), with Student's interval; a run that misses the target counts with all that it took, and the effect "
    "is then a bound; what is shown of each run is the median over the seeds",
}
"""What the figures mean."""


@dataclass(frozen=True)
class CurveMark:
    iteration: int
    rounds: float
    left: float | None
    """Relative suboptimality; None if there is no optimum to compare with."""
    error: float
    """||mean model - true model||^2."""


@dataclass(frozen=True)
class RunCurve:
    run: str
    seed: int
    status: str
    marks: tuple[CurveMark, ...]

    def hit(self, target: float) -> CurveMark | None:
        """Where the run first was at or below a relative suboptimality."""
        return next((mark for mark in self.marks if mark.left is not None and mark.left <= target), None)

    @property
    def end(self) -> float | None:
        """The relative suboptimality at the last point; a run that diverged has no end."""
        return self.marks[-1].left if self.marks and self.status == "finished" else None


@dataclass(frozen=True)
class ClaimLook(Look):
    """`optimum`: whether suboptimality is looked at."""

    optimum: bool

    def prepared(self, setting: ResolvedRun, driver: str) -> ResolvedRun:
        return replace(setting, own_models=False)

    def measure(self, left: RunLeft) -> Measurement:
        return Measurement(left.curve("iteration"), asdict(yardstick_of(left.setting)) if self.optimum else {})


def curve_of_run(run: Run) -> RunCurve:
    stick = Yardstick(**run.figures) if run.figures else None
    lefts = [None if stick is None else stick.left(point.objective) for point in run.curve]
    marks = tuple(
        CurveMark(point.iteration, point.rounds, left, point.metrics.get(_ERROR, inf))
        for point, left in zip(run.curve, lefts, strict=True)
    )
    return RunCurve(run.labels["run"], run.seed, run.status, marks)
