"""Whether a claim holds: the criteria in words, the same for every study and policy, over paired seeds.

A criterion is looked at in each condition in which something is done: an estimate over the seeds with a 95 % interval
(`orchestrator.paired`) beside a limit. The whole interval within the limit: holds; all of it beyond: does not hold;
else it cannot be told, for the seeds are too few for the difference seen. One or two seeds are a look. Where nothing
was measured, nothing is said. What is exactly at its limit is said to hold in 2.5 of 100 studies, by chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from orchestrator.paired import ENOUGH_SEEDS, Interval, paired_interval, paired_ratio
from orchestrator.report.text import count, percent
from orchestrator.studies.grid import WAITING_FOR_ALL, Reading, Study
from orchestrator.studies.measure import Row
from orchestrator.studies.spread import Rows
from orchestrator.verdicts import Verdict

SLOWDOWN = 2.0
"""How many times as long as without trouble is still called robust."""
SOONER = 0.95
"""The share of another's time that is called sooner."""
_STANDSTILL = 1e-9


@dataclass(frozen=True)
class Finding:
    """A criterion in one condition."""

    condition: str
    """In words."""
    passed: bool
    """Beyond doubt."""
    evidence: str
    doubt: Verdict | None = None
    """Why it neither holds nor fails: a look, or it cannot be told."""
    seems: bool = False
    """What the estimate says by itself."""
    interval: Interval | None = None

    @property
    def verdict(self) -> Verdict:
        """In this condition."""
        return self.doubt or (Verdict.HOLDS if self.passed else Verdict.FAILS)

    @property
    def words(self) -> str:
        """The verdict; of a look, what was seen."""
        look = f": {'yes' if self.seems else 'no'}" if self.verdict is Verdict.LOOK else ""
        return f"{self.verdict.value}{look}"


@dataclass(frozen=True)
class Judgement:
    """One criterion, for one reading of the claim."""

    reading: str
    about: str
    """The criterion's name."""
    criterion: str
    """When it holds."""
    verdict: Verdict
    findings: tuple[Finding, ...]

    @property
    def where(self) -> str:
        """In which conditions, if not in all or none."""
        passed = [finding.condition for finding in self.findings if finding.passed]
        return "; ".join(passed) if self.verdict is Verdict.PARTLY else ""


def judge(study: Study, rows: Rows) -> list[Judgement]:
    """Every criterion for every reading of the study's claim."""
    criteria = (_others_keep_their_pace, _target_in_time, _sooner_than_dpsgd, _data_still_heard)
    return [criterion(study, reading, rows) for reading in study.readings for criterion in criteria]


def overall(findings: Sequence[Finding]) -> Verdict:
    """In all, some or none of the conditions; what is refuted somewhere and holds nowhere does not hold."""
    verdicts = {finding.verdict for finding in findings}
    if Verdict.HOLDS in verdicts:
        return Verdict.HOLDS if len(verdicts) == 1 else Verdict.PARTLY
    return next((v for v in (Verdict.FAILS, Verdict.OPEN, Verdict.LOOK) if v in verdicts), Verdict.UNKNOWN)


@dataclass(frozen=True)
class _Seen:
    """What the seeds say of a criterion in a condition."""

    passed: bool | None
    """None: it cannot be told."""
    seems: bool
    seeds: int
    evidence: str
    interval: Interval | None = None


_Look = Callable[[str], _Seen | None]


def _others_keep_their_pace(study: Study, reading: Reading, rows: Rows) -> Judgement:
    def look(condition: str) -> _Seen | None:
        pairs = rows.pairs((reading.policy, study.baseline.key), (reading.policy, condition))
        known = [(a.pace, b.pace) for a, b in pairs if a.pace is not None and b.pace is not None]
        slower = [before / max(after, _STANDSTILL) for before, after in known if before > 0]
        return _beside(paired_ratio(slower), SLOWDOWN, "times slower") if slower else None

    words = f"the nodes that are not struck do their iterations at most {SLOWDOWN:g} times slower than without trouble"
    return _judgement(study, reading, "the other nodes keep their pace", words, look)


def _target_in_time(study: Study, reading: Reading, rows: Rows) -> Judgement:
    def look(condition: str) -> _Seen | None:
        pairs = rows.pairs((reading.policy, study.baseline.key), (reading.policy, condition))
        known = [(before, after) for before, after in pairs if before.held_s]
        times = [after.held_s / before.held_s for before, after in known if before.held_s and after.held_s]
        if not known or len(times) == len(known):
            ratio = paired_ratio(times, rounding=_rounding(known)) if times else None
            return None if ratio is None else _beside(ratio, SLOWDOWN, "times as long")
        missed = len(known) - len(times)
        return _Seen(
            passed=None if times else False,
            seems=False,
            seeds=len(known),
            evidence=f"missed with {missed} of {count(len(known), 'seed')}",
        )

    words = f"it takes at most {SLOWDOWN:g} times as long to the target as the same policy without trouble"
    return _judgement(study, reading, "the target is still reached in time", words, look)


def _sooner_than_dpsgd(study: Study, reading: Reading, rows: Rows) -> Judgement:
    def look(condition: str) -> _Seen | None:
        pairs = rows.pairs((reading.policy, condition), (WAITING_FOR_ALL, condition))
        if not pairs:
            return None
        ratio = paired_ratio([_time_ratio(*pair) for pair in pairs], rounding=_rounding(pairs))
        found = _beside(ratio, SOONER, "times D-PSGD's time")
        misses = [sum(row.held_s is None for row in side) for side in zip(*pairs, strict=True)]
        said = [f"{who} missed with {missed}" for who, missed in zip(("PaME", "D-PSGD"), misses, strict=True) if missed]
        return _Seen(found.passed, found.seems, found.seeds, "; ".join([found.evidence, *said]), found.interval)

    words = (
        f"the time to the target is at most {percent(SOONER)} of that of D-PSGD waiting for all, in the same condition "
        "with the same seed; who misses the target is given the whole time of the run"
    )
    return _judgement(study, reading, "the target is reached sooner than by D-PSGD", words, look)


def _data_still_heard(study: Study, reading: Reading, rows: Rows) -> Judgement:
    def look(condition: str) -> _Seen | None:
        shares = [row.left_on(row.struck) for row in rows.of(reading.policy, condition)]
        left = [100 * share for share in shares if share is not None]
        return _beside(paired_interval(left), 100 * study.target, "% left") if left else None

    words = (
        f"at the end of its time, at most {percent(study.target)} of the way is left for the mean model on the data of "
        f"the {study.struck} alone"
    )
    return _judgement(study, reading, f"{study.struck}' data is still heard", words, look)


def _time_ratio(ours: Row, theirs: Row) -> float:
    """Of the times to the target; a miss is given the whole time, and two misses are alike."""
    whole = max((row.seconds for row in (ours, theirs) if row.seconds), default=None)
    if whole is None or (ours.held_s is None and theirs.held_s is None):
        return 1.0
    return (ours.held_s or whole) / (theirs.held_s or whole)


def _rounding(pairs: Sequence[tuple[Row, Row]]) -> float:
    """Of the logarithms of ratios of times, which are read on a grid."""
    return fmean(one.rounding + other.rounding for one, other in pairs)


def _beside(interval: Interval, limit: float, unit: str) -> _Seen:
    """An estimate that should be at most `limit`."""
    ends = f" ({interval.low:.3g} … {interval.high:.3g})" if interval.seeds > 1 else ""
    evidence = f"{interval.estimate:.3g}{ends} {unit}"
    return _Seen(interval.is_below(limit), interval.estimate <= limit, interval.seeds, evidence, interval)


def _judgement(study: Study, reading: Reading, about: str, criterion: str, look: _Look) -> Judgement:
    looked = [(condition, look(condition.key)) for condition in study.conditions[1:]]
    findings = tuple(_finding(condition.words, seen) for condition, seen in looked if seen is not None)
    return Judgement(reading.words, about, criterion, overall(findings), findings)


def _finding(condition: str, seen: _Seen) -> Finding:
    doubt = Verdict.LOOK if seen.seeds < ENOUGH_SEEDS else Verdict.OPEN if seen.passed is None else None
    passed = doubt is None and bool(seen.passed)
    return Finding(condition, passed, seen.evidence, doubt, seen.seems, seen.interval)
