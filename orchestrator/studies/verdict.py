"""Whether a claim holds: the criteria in words, the same for every study and policy.

A criterion is looked at in each condition in which something is done. In all of them: holds. In some: holds partly, and
where. In none: does not hold. Where nothing was measured, nothing is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import isfinite

from orchestrator.report.text import duration, percent
from orchestrator.studies.grid import WAITING_FOR_ALL, Reading, Study
from orchestrator.studies.spread import Rows, Spread

SLOWDOWN = 2.0
"""How many times as long as without trouble is still called robust."""


class Verdict(Enum):
    """What is said of a claim."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    FAILS = "does not hold"
    UNKNOWN = "not measured"


@dataclass(frozen=True)
class Finding:
    """A criterion in one condition."""

    condition: str
    """In words."""
    passed: bool
    evidence: str


@dataclass(frozen=True)
class Judgement:
    """One criterion, for one reading of the claim."""

    reading: str
    about: str
    criterion: str
    verdict: Verdict
    findings: tuple[Finding, ...]

    @property
    def where(self) -> str:
        """In which conditions, if not in all or none."""
        passed = [finding.condition for finding in self.findings if finding.passed]
        return "; ".join(passed) if self.verdict is Verdict.PARTLY else ""


def judge(study: Study, rows: Rows) -> list[Judgement]:
    """Every criterion for every reading of the study's claim."""
    criteria = (_undisturbed, _robust, _sooner, _heard)
    return [criterion(study, reading, rows) for reading in study.readings for criterion in criteria]


def overall(findings: Sequence[Finding]) -> Verdict:
    """In all, some or none of the conditions."""
    if not findings:
        return Verdict.UNKNOWN
    passed = sum(finding.passed for finding in findings)
    if passed == len(findings):
        return Verdict.HOLDS
    return Verdict.PARTLY if passed else Verdict.FAILS


def _undisturbed(study: Study, reading: Reading, rows: Rows) -> Judgement:
    before = rows.pace(reading.policy, study.baseline.key)

    def look(condition: str) -> tuple[bool, str] | None:
        after = rows.pace(reading.policy, condition)
        if before is None or after is None:
            return None
        passed = SLOWDOWN * after.median >= before.median
        return passed, f"{before.median:.3g} → {after.median:.3g} per s"

    words = f"the other nodes do their iterations at least 1/{SLOWDOWN:g} as fast as without trouble, in the median"
    return _judgement(study, reading, "pace of the others", words, look)


def _robust(study: Study, reading: Reading, rows: Rows) -> Judgement:
    before = rows.time(reading.policy, study.baseline.key)

    def look(condition: str) -> tuple[bool, str] | None:
        after = rows.time(reading.policy, condition)
        if before is None or before.is_missed or after is None:
            return None
        passed = isfinite(after.median) and after.median <= SLOWDOWN * before.median
        times = "" if after.is_missed else f" ({after.median / before.median:.3g} times)"
        return passed, f"{_time(before)} → {_time(after)}{times}"

    words = f"the median time to the target is at most {SLOWDOWN:g} times that of the same policy without trouble"
    return _judgement(study, reading, "all nodes", words, look)


def _sooner(study: Study, reading: Reading, rows: Rows) -> Judgement:
    def look(condition: str) -> tuple[bool, str] | None:
        ours, theirs = rows.time(reading.policy, condition), rows.time(WAITING_FOR_ALL, condition)
        if ours is None or theirs is None:
            return None
        return ours.median < theirs.median, f"{_time(ours)}, D-PSGD {_time(theirs)}"

    words = "the median time to the target is below that of D-PSGD waiting for all, in the same condition"
    return _judgement(study, reading, "against D-PSGD", words, look)


def _heard(study: Study, reading: Reading, rows: Rows) -> Judgement:
    def look(condition: str) -> tuple[bool, str] | None:
        left = rows.on_their_data(reading.policy, condition)
        if left is None:
            return None
        return left.median <= study.target, f"{percent(left.median)} left"

    words = (
        f"at the end of its time, the mean model is within the target ({percent(study.target)}) on the data of the "
        f"{study.struck} alone, in the median"
    )
    return _judgement(study, reading, f"own data of the {study.struck}", words, look)


def _judgement(
    study: Study, reading: Reading, about: str, criterion: str, look: Callable[[str], tuple[bool, str] | None]
) -> Judgement:
    looked = [(condition, look(condition.key)) for condition in study.conditions[1:]]
    findings = tuple(Finding(condition.words, *seen) for condition, seen in looked if seen is not None)
    return Judgement(reading.words, about, criterion, overall(findings), findings)


def _time(spread: Spread) -> str:
    return "missed" if spread.is_missed else duration(spread.median)
