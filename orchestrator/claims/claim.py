"""What a claim is: the paper's statement, the runs that test it, what counts as holding, and what they say.

A criterion is looked at in several conditions, each a finding. In all of them: holds. In some: holds partly, and where.
In none: does not hold. The words are those of `orchestrator.studies`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from orchestrator.claims.course import Course
from orchestrator.compare.outcome import Outcome as Compared
from orchestrator.experiment import Experiment, load_text
from orchestrator.report.figure import Figure
from orchestrator.studies import Study
from orchestrator.studies.measure import Row
from orchestrator.studies.verdict import Finding, Verdict, overall


class Mode(Enum):
    """How much is run."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Run:
    """One experiment of a claim, as settings on top of the claim's base."""

    key: str
    words: str
    settings: tuple[str, ...]
    """As after `--set`."""


@dataclass(frozen=True)
class Experiments:
    """Runs in the simulator, each with every seed."""

    base: str
    """The text of an experiment file."""
    runs: Callable[[Mode], tuple[Run, ...]]
    optimum: bool = True
    """Whether suboptimality is looked at; else only the distance to the true model, which needs no optimum."""


@dataclass(frozen=True)
class OfStudy:
    """The cells of a study in the simulator; a few of them in quick mode."""

    study: Study

    def sized(self, mode: Mode) -> Study:
        """The study that is run."""
        return self.study.small() if mode is Mode.QUICK else self.study


@dataclass(frozen=True)
class OfComparison:
    """The comparison of `experiments/compare-logistic.yaml`, which all such claims share; made small in quick mode."""


Source = Experiments | OfStudy | OfComparison


@dataclass(frozen=True)
class Found:
    """What was run for a claim; which of these depends on its source."""

    courses: tuple[Course, ...] = ()
    rows: tuple[Row, ...] = ()
    """Of a study."""
    study: Study | None = None
    """As large as it was run."""
    compared: Compared | None = None

    def of(self, run: str) -> list[Course]:
        """Every seed of a run, ascending."""
        return sorted((course for course in self.courses if course.run == run), key=lambda course: course.seed)

    @property
    def keys(self) -> list[str]:
        """The runs of which something is known."""
        return list(dict.fromkeys(course.run for course in self.courses))


@dataclass(frozen=True)
class Judgement:
    """What is said of a claim, and what that rests on."""

    verdict: Verdict
    findings: tuple[Finding, ...]

    @property
    def where(self) -> str:
        """In which conditions, if not in all or none: whichever list is the shorter."""
        if self.verdict is not Verdict.PARTLY:
            return ""
        passed = [finding.condition for finding in self.findings if finding.passed]
        failed = [finding.condition for finding in self.findings if not finding.passed]
        if len(passed) <= len(failed):
            return f"only: {'; '.join(passed)}"
        return f"not: {'; '.join(failed)}"

    @property
    def met(self) -> str:
        """In how many of the conditions."""
        return f"{sum(finding.passed for finding in self.findings)} of {len(self.findings)}"


@dataclass(frozen=True)
class Claim:
    """One claim of the paper."""

    key: str
    title: str
    statement: str
    """What the paper says, in our words."""
    criterion: str
    """What counts as holding."""
    source: Source
    judge: Callable[[Found], Sequence[Finding]]
    figure: Callable[[str, Found], Figure | None]
    """The chart of this key; None if there is nothing to draw."""
    remark: str = ""
    """What a reader should know of the way it is tested."""
    quick_seeds: int = 2
    full_seeds: int = 5

    def seeds(self, mode: Mode, wanted: int | None = None) -> tuple[int, ...]:
        """From 1 on, as many as wanted or as the mode has."""
        return tuple(range(1, 1 + (wanted or (self.quick_seeds if mode is Mode.QUICK else self.full_seeds))))

    def judgement(self, found: Found) -> Judgement:
        """The verdict."""
        findings = tuple(self.judge(found))
        return Judgement(overall(findings), findings)


def experiment_of(claim: str, base: str, run: Run, seed: int) -> Experiment:
    """The experiment of one run of a claim."""
    settings = [*run.settings, f"seed={seed}", f"name={claim}_{run.key}_seed-{seed}"]
    return load_text(base, Path(f"{claim}.yaml"), settings)[0].experiment
