"""What a run took to each target, from its curve: the same code for the simulator and for real nodes.

The yardstick is the relative suboptimality (f - f*) / (f(0) - f*), from 1 at the start to 0: the mean over the nodes at
their own models (`of: nodes`), or that of the mean of all models (`of: mean`), which nobody has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from math import isfinite
from typing import Any, Literal

from orchestrator.campaigns.compare.grid import CompareCell, CompareView, Values
from orchestrator.campaigns.compare.mixing_partners import ITERATIONS, MixingPartners
from orchestrator.results.files import finite
from pame.algorithms import Who
from pame.observe import Evaluation, Record
from pame.resolved_run import ResolvedRun
from pame.stopping import PaperRule, Stopper, StopRules

Of = Literal["nodes", "mean"]
ACCURACY = "test_accuracy"
"""The metric that an accuracy target is about."""
_NEVER = 2**62
_PERCENT = 100.0

HOW = {
    "relative suboptimality": "(f - f*) / (f(0) - f*), f the mean of the nodes' objectives on all their samples; f* is "
    "solved on all nodes' data, once per seed; targets.of says whose f: nodes, the mean over the nodes of f at their "
    "own models; mean, f at the mean of all models, which averages once more for free",
    "no communication": "every node descends alone on its own data, with a step tuned as the algorithms' are, over all "
    "the steps that are tried for any of them; a target that it reaches in at least half of the runs needs no "
    "exchange, and nobody wins it",
    "one node with all data": "gradient descent on everybody's data, as many steps; tuned in the same way; it sends "
    "nothing, and is what exchange can hope for",
    "to a target": "the first point of a run's curve at or below it, and no run stops there; in the simulator there is "
    "a point at every iteration of the stretch of check_every iterations at whose end f is below a target for the "
    "first time; on real nodes points are check_every iterations apart, as the snapshots are",
    "accuracy": "test accuracy of the nodes' own models, the mean over the nodes, or of the mean of all models, as "
    "targets.of says; the target is the best that any algorithm reached with the same seed, in any view, less the "
    "points allowed; read every check_every iterations, which rounds up",
    "stop rule": "the paper's: the population standard deviation of three consecutive values of the sum of the nodes' "
    "objectives at the mean model is below 1e-3, looked at every check_every iterations; it stops no run here",
    "rounds": "communication rounds: iterations at which a node aggregates, the mean over the nodes, whether or not "
    "anybody takes part",
    "company": f"by the public draws, in the first {ITERATIONS} iterations, if nothing is late or lost: with how many "
    "others a node mixes at a round, at how many of its rounds there is nobody, and how many messages it sends at one",
    "bytes": "exact size of every encoded payload sent by all nodes in the iterations before that point: by the codec "
    "in the simulator, counted by every node on a network; protobuf, gRPC and TCP/IP not included; of algorithms with "
    "replicas those on the edges that take part in the round: what keeps the replicas of the others up to date is not "
    "counted here, and stands as really sent beside it",
    "seconds": "simulated: compute and link times of the base experiment under a virtual clock (none: not measured); "
    "on a network: real time by the orchestrator's clock until every node was there; an iteration is given one "
    "compute.step, although DFedSAM takes two gradients in it, and DMGT-SVRG two or more",
    "tuning": "in the simulator, on a seed of its own; at most the same number of runs for each algorithm and view, "
    "fewer where its grid has fewer settings (chosen settings says how many each had); where the best value lies on an "
    "edge, further values are tried, at most tuning.more for each; what is tuned for one (the decay gamma) is tuned "
    "for all that have it; the best run reaches the most targets, then the tightest of these in the fewest iterations, "
    "then the lowest suboptimality; tuning runs stop at the tightest target, or earlier where the file says so; the "
    "chosen setting is then run to the end, and one that diverges, or ends above where it began, cannot win: the next "
    "best takes its place, is extended and run to the end in turn; the lines that exchange nothing are tuned alike",
    "as printed": "PaME with the step that the paper prints, 1 / (sigma^k t_i), sigma 1, gamma 1.005; not tuned",
    "medians and ranges": "over the seeds; a run that does not reach a target counts as later than any that does, and "
    "so does one that diverges later",
    "times": "the ratio of what two algorithms took with the same seed; the mean of its logarithm over the seeds and "
    "the 95 % interval of Student's t; with fewer than three seeds no interval, and so a look and no verdict",
    "the fewest": "a winner has the lowest median, and the interval of the ratio lies above 1 for each of the others "
    "that does not diverge with every seed; else there is none, and the lowest median is named as such",
}
"""What the figures mean."""


@dataclass(frozen=True)
class Yardstick:
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
class CompareMark:
    """One point of a run's curve, and what it had taken."""

    iteration: int
    rounds: float
    bytes: float
    seconds: float | None
    objective: float
    """f(mean model), for the stop rule."""
    left: float
    """The relative suboptimality that targets are about."""
    accuracy: float | None = None
    mean: float | None = None
    """The relative suboptimality of the mean of all models."""
    nodes: float | None = None
    """The mean over the nodes at their own models."""
    worst: float | None = None
    """The worst node's."""
    sent: float | None = None
    """Bytes really sent, where `bytes` counts only the edges that take part."""


@dataclass(frozen=True)
class CompareRow:
    """One run, measured."""

    cell: CompareCell
    backend: str
    status: str
    marks: tuple[CompareMark, ...]
    company: MixingPartners
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


def marks_of(
    points: Iterable[Evaluation],
    setting: ResolvedRun,
    stick: Yardstick,
    of: Of,
    used: Mapping[int, float] | None = None,
) -> tuple[CompareMark, ...]:
    """The points of the curve that decides, measured; those that are not finite are left out.

    `used`: by iteration, the bytes on the edges that took part, if these are not all that was sent.
    """
    by, marks = decisive_curve(setting), []
    before = None if used is None else list(accumulate(used.get(k, 0.0) for k in range(max(used, default=0) + 1)))
    for point in points:
        if point.by != by:
            continue
        iteration, sent, objective, own = point.iteration, point.bytes, point.objective, point.own
        judged = own.objective if of == "nodes" and own is not None else objective
        if not isfinite(judged) or not isfinite(objective):
            continue
        metrics = own.metrics if of == "nodes" and own is not None else point.metrics
        paid = sent if not before else before[min(iteration, len(before)) - 1] if iteration else 0.0
        marks.append(
            CompareMark(
                iteration=iteration,
                rounds=rounds_before(setting.periods, iteration),
                bytes=paid,
                seconds=point.seconds,
                objective=objective,
                left=stick.left(judged),
                accuracy=finite(metrics.get(ACCURACY)),
                mean=stick.left(objective),
                nodes=None if own is None or not isfinite(own.objective) else stick.left(own.objective),
                worst=None if own is None or not isfinite(own.worst) else stick.left(own.worst),
                sent=None if before is None else sent,
            )
        )
    return tuple(marks)


def bytes_used(records: Iterable[Record], setting: ResolvedRun) -> dict[int, float] | None:
    """By iteration: what went over edges that took part; None: all that is sent does."""
    selection = setting.selection()
    if selection.who not in (Who.BROADCAST, Who.BROADCAST_SHARED):
        return None
    used: dict[int, float] = {}
    for record in records:
        if record.messages:
            share = len(selection.active(record.node, record.iteration)) / record.messages
            used[record.iteration] = used.get(record.iteration, 0.0) + share * record.bytes
    return used


def rounds_before(periods: Sequence[int], iteration: int) -> float:
    """How many rounds a node has had before an iteration, the mean over the nodes; round 0 is one."""
    return sum(-(-iteration // period) for period in periods) / len(periods)


def decisive_curve(setting: ResolvedRun) -> Literal["iteration", "time"]:
    """By iteration; by time where complete sets of models lag behind, or never come."""
    return "time" if setting.conditions.keep_nodes_apart else "iteration"


def to_suboptimality(row: CompareRow, target: float) -> CompareMark | None:
    """Where a run first was at or below a target; None: it was not."""
    return next((mark for mark in row.marks if mark.left <= target), None)


def to_accuracy(row: CompareRow, goal: float | None) -> CompareMark | None:
    """Where a run first was at or above a test accuracy."""
    if goal is None:
        return None
    return next((mark for mark in row.marks if mark.accuracy is not None and mark.accuracy >= goal), None)


def under_stop_rule(row: CompareRow, nodes: int, every: int) -> CompareMark | None:
    """Where the paper's rule would have stopped a run."""
    stopper = Stopper(StopRules(_NEVER, objective="sum", paper=PaperRule(every=every)), nodes)
    looked_at = (mark for mark in row.marks if mark.iteration % every == 0)
    return next((mark for mark in looked_at if stopper.reason(mark.iteration, mark.objective) is not None), None)


def accuracy_goals(rows: Iterable[CompareRow], points: float) -> dict[int, float]:
    """By seed: so many percentage points below the best accuracy of all runs."""
    best: dict[int, float] = {}
    for row in rows:
        if row.accuracy is not None:
            best[row.cell.seed] = max(row.accuracy, best.get(row.cell.seed, 0.0))
    return {seed: value - points / _PERCENT for seed, value in best.items()}


def of_cell(
    rows: Iterable[CompareRow], view: CompareView, algorithm: str, values: Values | None = None
) -> list[CompareRow]:
    """The runs of an algorithm in a view, by seed; `values`: only those with these settings."""
    found = [
        row
        for row in rows
        if (row.cell.view, row.cell.algorithm) == (view, algorithm) and values in (None, row.cell.values)
    ]
    return sorted(found, key=lambda row: row.cell.seed)
