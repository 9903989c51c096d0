"""What a claim is: the paper's statement, the runs that test it, what counts as holding, and what they say.

How verdicts come about is in `verdict`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from contract.data_store import find_data
from contract.problem_inputs import check_torch
from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.claims.verdict import ClaimJudgement, judge
from orchestrator.campaigns.compare import Comparison, load_comparison
from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.verdict import CompareOutcome as Compared
from orchestrator.campaigns.options import shipped_file
from orchestrator.campaigns.studies import Study
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.studies.tune import Tuned
from orchestrator.campaigns.verdicts import Question
from orchestrator.experiment import Experiment, load_text
from orchestrator.report.chart import Chart
from pame.errors import PameError

COMPARISON = "comparison"
"""What stands for a claim in the rows of the comparison that several of them share; and the folder of its page."""
_COMPARISON = "compare-logistic.yaml"
_INSTEAD = "run this in the folder of the testbed, or choose with --only"
_PAPER = "In our words; of the paper (arXiv:2603.01730) only the abstract is at hand."
_NO_CLOCK = "simulate.driver=lock-step"
"""Rounds and bytes are asked for, not seconds."""
_SMALL = ("problem.n=200", "problem.samples=100", "problem.test_samples=200", "stop.iterations=300")
"""What quick mode changes in the comparison. Nodes and graph stay, for they decide how many neighbours are averaged;
and so do the samples to a dimension."""


class ClaimsMode(Enum):
    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class ClaimRun:
    """One experiment of a claim, as settings on top of the claim's base."""

    key: str
    words: str
    settings: tuple[str, ...]
    """As after `--set`."""
    group: str = ""
    """The condition that it shares with the runs it is drawn with."""

    @property
    def title(self) -> str:
        return ", ".join(filter(None, (self.words, self.group)))


@dataclass(frozen=True)
class ClaimExperiments:
    """Runs in the simulator, each with every seed."""

    base: str
    """The text of an experiment file."""
    runs: Callable[[ClaimsMode], tuple[ClaimRun, ...]]
    optimum: bool = True
    """Whether suboptimality is looked at; else only the distance to the true model, which needs no optimum."""


@dataclass(frozen=True)
class OfStudy:
    """The cells of a study in the simulator; a few of them in quick mode."""

    study: Study

    @property
    def file(self) -> Path:
        """Of the base experiment."""
        return shipped_file(f"study-{self.study.name}.yaml", _INSTEAD)

    def sized(self, mode: ClaimsMode) -> Study:
        return self.study.small() if mode is ClaimsMode.QUICK else self.study


@dataclass(frozen=True)
class OfComparison:
    """The comparison of the paper's logistic regression, which all such claims share; made small in quick mode."""

    def plans(self, _: str, mode: ClaimsMode, seeds: tuple[int, ...]) -> dict[str, Comparison]:
        """By what stands for a claim in its rows."""
        settings = (_NO_CLOCK, *(_SMALL if mode is ClaimsMode.QUICK else ()))
        return {COMPARISON: replace(load_comparison(shipped_file(_COMPARISON, _INSTEAD), settings), seeds=seeds)}


@dataclass(frozen=True)
class DataWay:
    """A way in which the samples are shared out, and the accuracy that everybody is to reach then."""

    key: str
    words: str
    partition: str
    """As after `--set problem.partition=`."""
    target: float
    quick_target: float | None = None
    """None: not looked at in quick mode."""


@dataclass(frozen=True)
class OfNetworks:
    """A comparison of networks for each way of sharing out the data; each tunes by itself. Made small in quick mode."""

    file: str
    """The shipped comparison."""
    data: str
    """The data set that has to be prepared."""
    ways: tuple[DataWay, ...]
    small: tuple[str, ...]
    """What quick mode changes in its base, besides having one view, fewer ways and fewer steps to choose from."""
    settings: tuple[str, ...] = ()
    """What is changed in its base in any case."""

    def plans(self, claim: str, mode: ClaimsMode, seeds: tuple[int, ...]) -> dict[str, Comparison]:
        """By what stands for a claim's comparison in the rows."""
        is_quick = mode is ClaimsMode.QUICK
        targets = [(way, way.quick_target if is_quick else way.target) for way in self.ways]
        return {f"{claim}-{way.key}": self._plan(way, at, is_quick, seeds) for way, at in targets if at is not None}

    def _plan(self, way: DataWay, target: float, is_quick: bool, seeds: tuple[int, ...]) -> Comparison:
        settings = (_NO_CLOCK, *self.settings, *(self.small if is_quick else ()), f"problem.partition={way.partition}")
        plan = load_comparison(shipped_file(self.file, _INSTEAD), settings)
        plan = replace(plan, seeds=seeds, targets=(Target("accuracy", target),))
        if not is_quick:
            return plan
        only_published = plan.standardized.model_copy(update={"readings": "none"})
        return replace(plan, tuning=plan.tuning.quick(), standardized=only_published)

    @property
    def lacking(self) -> str:
        """What has to be done before it can be run; empty: nothing."""
        try:
            check_torch()
            find_data(self.data)
        except PameError as error:
            return str(error)
        return ""


Source = ClaimExperiments | OfStudy | OfComparison | OfNetworks


@dataclass(frozen=True)
class Found:
    """What was run for a claim; which of these depends on its source."""

    courses: tuple[RunCurve, ...] = ()
    rows: tuple[StudyRow, ...] = ()
    """Of a study."""
    study: Study | None = None
    """As large as it was run, with the steps that tuning chose."""
    tuned: tuple[Tuned, ...] = ()
    compared: Mapping[str, Compared] = field(default_factory=dict)
    """By the words of how the samples are shared out; empty words: in one way only."""

    def of(self, run: str) -> list[RunCurve]:
        """Every seed of a run, ascending."""
        return sorted((course for course in self.courses if course.run == run), key=lambda course: course.seed)


@dataclass(frozen=True)
class Claim:
    key: str
    title: str
    statement: str
    """What the paper says, in our words."""
    criterion: str
    """What counts as holding."""
    source: Source
    ask: Callable[[Found], Sequence[Question]]
    figure: Callable[[str, Found], Chart | None]
    """The chart of this key; None if there is nothing to draw."""
    known: str = ""
    """What of the statement is the paper's own text, and where it stands; empty: nothing that we have."""
    instead: str = ""
    """What is tested instead of the statement, and why; what was fitted, and to what."""
    quick_seeds: int = 4
    full_seeds: int = 5

    @property
    def lacking(self) -> str:
        """What has to be done before it can be tested; empty: nothing."""
        return self.source.lacking if isinstance(self.source, OfNetworks) else ""

    @property
    def origin(self) -> str:
        return f"{_PAPER} {self.known}".strip()

    def seeds(self, mode: ClaimsMode, wanted: int | None = None) -> tuple[int, ...]:
        """From 1 on, as many as wanted or as the mode has."""
        return tuple(range(1, 1 + (wanted or (self.quick_seeds if mode is ClaimsMode.QUICK else self.full_seeds))))

    def judgement(self, found: Found) -> ClaimJudgement:
        return judge(self.ask(found))


@dataclass(frozen=True)
class ClaimsOutcome:
    claims: tuple[Claim, ...]
    mode: ClaimsMode
    seeds: Mapping[str, tuple[int, ...]]
    """By claim."""
    command: str
    found: Mapping[str, Found]
    judgements: Mapping[str, ClaimJudgement]
    seconds: float
    """How long all of it took."""
    trouble: str | None = None
    """Why it is not complete."""
    backend: str = "simulate"
    compared: Mapping[str, Compared] = field(default_factory=dict)
    """All comparisons, by the folder of their page."""
    left_out: tuple[str, ...] = ()
    """Claims that were not tested, and what has to be done first."""


def experiment_of(claim: str, base: str, run: ClaimRun, seed: int) -> Experiment:
    settings = [*run.settings, f"seed={seed}", f"name={claim}_{run.key}_seed-{seed}"]
    return load_text(base, Path(f"{claim}.yaml"), settings)[0].experiment
