"""What a claim is: the paper's statement, the runs that test it, what counts as holding, and what they say.

How verdicts come about is in `verdict`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.claims.verdict import ClaimJudgement, judge
from orchestrator.campaigns.compare import Comparison, load_comparison
from orchestrator.campaigns.compare.verdict import CompareOutcome as Compared
from orchestrator.campaigns.options import shipped_file
from orchestrator.campaigns.studies import Study
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.studies.tune import Tuned
from orchestrator.campaigns.verdicts import Question
from orchestrator.experiment import Experiment, load_text
from orchestrator.report.chart import Chart

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

    def plan(self, mode: ClaimsMode, seeds: tuple[int, ...]) -> Comparison:
        settings = (_NO_CLOCK, *(_SMALL if mode is ClaimsMode.QUICK else ()))
        return replace(load_comparison(shipped_file(_COMPARISON, _INSTEAD), settings), seeds=seeds)


Source = ClaimExperiments | OfStudy | OfComparison


@dataclass(frozen=True)
class Found:
    """What was run for a claim; which of these depends on its source."""

    courses: tuple[RunCurve, ...] = ()
    rows: tuple[StudyRow, ...] = ()
    """Of a study."""
    study: Study | None = None
    """As large as it was run, with the steps that tuning chose."""
    tuned: tuple[Tuned, ...] = ()
    compared: Compared | None = None

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


def experiment_of(claim: str, base: str, run: ClaimRun, seed: int) -> Experiment:
    settings = [*run.settings, f"seed={seed}", f"name={claim}_{run.key}_seed-{seed}"]
    return load_text(base, Path(f"{claim}.yaml"), settings)[0].experiment
