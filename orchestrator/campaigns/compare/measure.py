"""What a run took to each target, from its curve: the same code for the simulator and for real nodes.

The yardstick is the relative suboptimality (f - f*) / (f(0) - f*), from 1 at the start to 0: the mean over the nodes at
their own models (`of: nodes`), or that of the mean of all models (`of: mean`), which nobody has.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Literal, assert_never

from orchestrator.campaigns.cell import HowEnded, Look, Measurement, Run
from orchestrator.campaigns.compare.fault_windows import FaultWindow, windows_of
from orchestrator.campaigns.compare.file import Target, TargetKind
from orchestrator.campaigns.compare.grid import CompareCell, CompareView
from orchestrator.campaigns.compare.mixing_partners import ITERATIONS, MixingPartners, company_of
from orchestrator.campaigns.run_left import LOWEST, NODES, OF_NODES, WORST, By, RunLeft, RunPoint, decisive
from orchestrator.campaigns.yardstick import Yardstick, yardstick_if_known, yardstick_of
from pame.algorithms import FixedStep
from pame.baselines import Baseline, run_baseline
from pame.byte_account import ByteAccount
from pame.observe import Observer
from pame.resolved_run import Fine, ResolvedRun
from pame.rules import Compute
from pame.stopping import PaperRule, Stopper, StopRules

Of = Literal["nodes", "mean"]
ACCURACY = "test_accuracy"
"""The metric that an accuracy target is about."""
_NEVER = 2**62
_PERCENT = 100.0

LEFT = "relative suboptimality"
HOW = {
    LEFT: "(f - f*) / (f(0) - f*), f the mean of the nodes' objectives on all their samples; f* is "
    "solved on all nodes' data, once per seed; targets.of says whose f: nodes, the mean over the nodes of f at their "
    "own models; mean, f at the mean of all models, which averages once more for free",
    "where nobody knows the optimum": "as of a neural network, nothing is relative to it: targets are of test "
    "accuracy, or of f on a fixed sample of the training data; a run that ends below half of its own best accuracy has "
    "diverged",
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
    "as printed": "PaME with the step that the paper prints, 1 / (sigma^k t_i); sigma 1 and gamma 1.005 where the file "
    "says nothing else, as it does for networks; not tuned",
    "medians and ranges": "over the seeds; a run that does not reach a target counts as later than any that does, and "
    "so does one that diverges later",
    "times": "the ratio of what two algorithms took with the same seed; the mean of its logarithm over the seeds and "
    "the 95 % interval of Student's t; with fewer than three seeds no interval, and so a look and no verdict",
    "the fewest": "a winner has the lowest median, and the interval of the ratio lies above 1 for each of the others "
    "that does not diverge with every seed; else there is none, and the lowest median is named as such",
}
"""What the figures mean."""


@dataclass(frozen=True, kw_only=True)
class CompareMark(RunPoint):
    """One point of a run's curve, seen by the yardstick."""

    left: float | None
    """The relative suboptimality that targets are about; None: nobody knows the optimum."""
    accuracy: float | None = None
    """The one that targets are about."""
    looked_at: float = inf
    """The f that targets are about."""
    mean: float | None = None
    """The relative suboptimality of the mean of all models."""
    nodes: float | None = None
    """The mean over the nodes at their own models."""
    worst: float | None = None
    """The worst node's."""
    mean_accuracy: float | None = None
    nodes_accuracy: float | None = None
    worst_accuracy: float | None = None


@dataclass(frozen=True)
class CompareRow(HowEnded):
    cell: CompareCell
    marks: tuple[CompareMark, ...]
    company: MixingPartners
    windows: tuple[FaultWindow, ...] = ()
    """Of what was done to it; known where there are conditions."""

    @property
    def left(self) -> float | None:
        return self.marks[-1].left if self.marks else None

    @property
    def accuracy(self) -> float | None:
        """The best on the way."""
        return max((mark.accuracy for mark in self.marks if mark.accuracy is not None), default=None)

    @property
    def end_accuracy(self) -> float | None:
        return self.marks[-1].accuracy if self.marks else None

    @property
    def is_worse_than_it_was(self) -> bool:
        """Whether it ended above where it began; of what has no optimum, below half of its best accuracy."""
        last = self.marks[-1] if self.marks else None
        if last is None:
            return False
        if last.left is not None:
            return last.left > 1.0
        if last.accuracy is not None and self.accuracy is not None:
            return last.accuracy < self.accuracy / 2
        return last.looked_at > self.marks[0].looked_at


@dataclass(frozen=True)
class End:
    """When a tuning run has told what it can: at a target that is about f, or after so many iterations."""

    target: Target
    iterations: int | None = None
    of_nodes: bool = True

    @property
    def may_be_early(self) -> bool:
        """Accuracies end no run."""
        return self.target.kind != "accuracy" or self.iterations is not None

    def applied(self, rules: StopRules, objective: float | None) -> StopRules:
        """The stop rules of a run that ends so; `objective`: f at the target."""
        most = min(rules.last_iteration, self.iterations or rules.last_iteration)
        return replace(rules, iterations=most, target=objective, objective="mean")


@dataclass(frozen=True)
class CompareLook(Look):
    """With points at every iteration around the targets that are about f; `end`: None for all but tuning runs."""

    targets: tuple[Target, ...]
    end: End | None = None

    def prepared(self, setting: ResolvedRun, driver: str) -> ResolvedRun:
        return self.finer(setting, decisive(setting) if driver == "virtual-time" else "iteration")

    def finer(self, setting: ResolvedRun, by: By) -> ResolvedRun:
        """With points at every iteration around the targets, of one curve alone."""
        values = [value for target in self.targets if (value := _objective(target, setting)) is not None]
        end = self.end
        stop = setting.stop if end is None else end.applied(setting.stop, _objective(end.target, setting))
        of_nodes = end is not None and end.of_nodes
        return replace(setting, stop=stop, fine=Fine(tuple(values), by), target_of_nodes=of_nodes)

    def measure(self, left: RunLeft) -> Measurement:
        curve = left.curve(decisive(left.setting), taking_part=True)
        return Measurement(curve, figures_of(left.setting, company_of(left.setting)))


def _objective(target: Target, setting: ResolvedRun) -> float | None:
    """f at a target; None: it is about something else."""
    match target.kind:
        case "suboptimality":
            return yardstick_of(setting).objective(target.value)
        case "objective":
            return target.value
        case "accuracy":
            return None
        case _:
            assert_never(target.kind)


def figures_of(setting: ResolvedRun, company: MixingPartners) -> dict[str, object]:
    """What is kept of a run beside its curve: f at both ends, whom its nodes met."""
    stick = yardstick_if_known(setting)
    return {**({} if stick is None else asdict(stick)), "company": asdict(company)}


@dataclass(frozen=True)
class BaselineLook(CompareLook):
    """What needs no exchange: no rounds, no bytes, and no clock."""

    kind: Baseline = Baseline.ALONE
    eta: float = 0.0
    gamma: float = 1.0
    exchanges = False

    def prepared(self, setting: ResolvedRun, driver: str) -> ResolvedRun:
        return self.finer(replace(setting, plan=(), compute=Compute()), "iteration")

    def drive(self, driver: str, setting: ResolvedRun, observer: Observer, account: ByteAccount) -> None:
        run_baseline(self.kind, setting, FixedStep(eta=self.eta, gamma=self.gamma), observer)

    def measure(self, left: RunLeft) -> Measurement:
        curve = tuple(replace(point, rounds=0.0) for point in left.curve("iteration"))
        return Measurement(curve, figures_of(left.setting, MixingPartners(0.0, 1.0, 0.0)))


def stick_of(run: Run) -> Yardstick | None:
    """None: nobody knows the optimum."""
    return Yardstick(run.figures["start"], run.figures["best"]) if "best" in run.figures else None


def row_of(run: Run, of: Of, views: Mapping[str, CompareView]) -> CompareRow:
    """A run as comparisons see it; `views`: by their words."""
    labels, stick = run.labels, stick_of(run)
    return CompareRow(
        CompareCell(
            labels["algorithm"],
            views[labels["view"]],
            tuple(labels["values"].items()),
            run.seed,
            labels.get("condition", ""),
        ),
        tuple(_mark(point, stick, of) for point in run.curve),
        MixingPartners(**run.figures["company"]),
        windows_of(run.figures),
        **run.ended(),
    )


def _mark(point: RunPoint, stick: Yardstick | None, of: Of) -> CompareMark:
    known, nodes = point.metrics, point.metrics.get(NODES)
    looked_at = nodes if of == "nodes" and nodes is not None else point.objective
    own = known.get(f"{OF_NODES}{ACCURACY}")

    def left(objective: float | None) -> float | None:
        return None if stick is None or objective is None else stick.left(objective)

    return CompareMark(
        **vars(point),
        left=left(looked_at),
        accuracy=own if of == "nodes" and nodes is not None else known.get(ACCURACY),
        looked_at=looked_at,
        mean=left(point.objective),
        nodes=left(nodes),
        worst=left(known.get(WORST)),
        mean_accuracy=known.get(ACCURACY),
        nodes_accuracy=own,
        worst_accuracy=known.get(f"{LOWEST}{ACCURACY}"),
    )


def level(mark: CompareMark, kind: TargetKind) -> float:
    """What targets of a kind are about, turned so that less is better; infinite if it is not known."""
    match kind:
        case "suboptimality":
            return inf if mark.left is None else mark.left
        case "objective":
            return mark.looked_at
        case "accuracy":
            return inf if mark.accuracy is None else -mark.accuracy
        case _:
            assert_never(kind)


def to_target(row: CompareRow, target: Target) -> CompareMark | None:
    """Where a run first was at a target, or beyond it; None: it was not."""
    return next((mark for mark in row.marks if level(mark, target.kind) <= target.level), None)


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


def of_cell(rows: Iterable[CompareRow], view: CompareView, algorithm: str) -> list[CompareRow]:
    """The runs of an algorithm in a view, by seed."""
    found = [row for row in rows if (row.cell.view, row.cell.algorithm) == (view, algorithm)]
    return sorted(found, key=lambda row: row.cell.seed)
