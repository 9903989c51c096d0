"""Whether a claim holds: the criteria in words, the same for every study and policy, over paired seeds.

A criterion is looked at in each condition in which something is done: an estimate over the seeds with an interval
(`orchestrator.results.paired`; 95 % in a study, more in a claim, where several decide together) beside a limit. The
whole interval within the limit: holds; all of it beyond: does not hold; else it cannot be told, for the seeds are too
few for the difference seen. One or two seeds are a look. A policy that diverges with every seed does not hold. Where
nothing was measured, nothing is said. What is exactly at its limit is said to hold in 2.5 of 100 studies, by chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from orchestrator.campaigns.studies.grid import READINGS, WAITING_FOR_ALL, Policy, Study, StudyReading
from orchestrator.campaigns.studies.measure import Rows, StudyRow
from orchestrator.campaigns.studies.tune import Tuned
from orchestrator.campaigns.verdicts import Verdict
from orchestrator.experiment import Experiment
from orchestrator.number_words import count, percent
from orchestrator.results import Status
from orchestrator.results.paired import ENOUGH_SEEDS, LEVEL, Interval, paired_interval, paired_ratio

SLOWDOWN = 2.0
"""How many times as long as without trouble is still called robust."""
SOONER = 0.95
"""The share of another's time that is called sooner."""
PACE = "the other nodes keep their pace"
_STANDSTILL = 1e-9


@dataclass(frozen=True)
class StudyFinding:
    """What the seeds say of a criterion in one condition."""

    is_within: bool | None
    """Whether it is within its limit; None: it cannot be told."""
    seems: bool
    """What the estimate says by itself."""
    seeds: int
    remark: str = ""
    """What was seen besides the estimate."""
    interval: Interval | None = None
    unit: str = ""
    """Of the estimate."""
    diverges: bool = False
    condition: str = ""
    """In words."""

    @property
    def verdict(self) -> Verdict:
        if self.seeds < ENOUGH_SEEDS:
            return Verdict.LOOK
        return Verdict.OPEN if self.is_within is None else Verdict.HOLDS if self.is_within else Verdict.FAILS

    @property
    def evidence(self) -> str:
        """The estimate with its ends, and what else was seen."""
        found = self.interval
        if found is None:
            return self.remark
        ends = f" ({found.low:.3g} … {found.high:.3g})" if found.seeds > 1 else ""
        return "; ".join(filter(None, (f"{found.estimate:.3g}{ends} {self.unit}", self.remark)))

    @property
    def words(self) -> str:
        """The verdict; of a look, what was seen."""
        look = f": {'yes' if self.seems else 'no'}" if self.verdict is Verdict.LOOK else ""
        return f"{self.verdict.value}{look}"


@dataclass(frozen=True)
class StudyJudgement:
    reading: str
    about: str
    """The criterion's name."""
    criterion: str
    """When it holds."""
    verdict: Verdict
    findings: tuple[StudyFinding, ...]

    @property
    def where(self) -> str:
        """In which conditions, if not in all or none."""
        passed = [finding.condition for finding in self.findings if finding.verdict is Verdict.HOLDS]
        return "; ".join(passed) if self.verdict is Verdict.PARTLY else ""


@dataclass(frozen=True)
class StudyOutcome:
    study: Study
    base: Experiment
    policies: tuple[Policy, ...]
    tuned: tuple[Tuned, ...]
    """PaME and D-PSGD; empty: it did not come so far."""
    seeds: tuple[int, ...]
    command: str
    file: str
    """The name of the base experiment's file."""
    predicted: Sequence[StudyRow]
    measured: Sequence[StudyRow]
    judgements: Sequence[StudyJudgement]
    """By the simulator."""
    measured_judgements: Sequence[StudyJudgement]
    """By the real nodes, as far as they tell."""
    trouble: str | None = None
    """Why it is not complete."""

    def pairs(self) -> list[tuple[StudyRow, StudyRow]]:
        """Prediction and measurement of the same cell and seed."""
        known = {(row.policy, row.condition, row.seed): row for row in self.predicted}
        both = [(known.get((row.policy, row.condition, row.seed)), row) for row in self.measured]
        return [(before, after) for before, after in both if before is not None]

    @property
    def words(self) -> dict[str, str]:
        """For the keys of policies and conditions."""
        policies = {policy.key: policy.words for policy in self.policies}
        return policies | {condition.key: condition.words for condition in self.study.conditions}


def judge(study: Study, rows: Rows, level: float = LEVEL) -> list[StudyJudgement]:
    """Every criterion for every reading of the study's claim."""
    criteria = (_others_keep_their_pace, _target_in_time, _sooner_than_dpsgd, _data_still_heard)
    return [criterion(_Case(study, reading, rows, level)) for reading in READINGS for criterion in criteria]


def overall(findings: Sequence[StudyFinding]) -> Verdict:
    """In all, some or none of the conditions; what is refuted somewhere and holds nowhere does not hold."""
    verdicts = {finding.verdict for finding in findings}
    if Verdict.HOLDS in verdicts:
        return Verdict.HOLDS if len(verdicts) == 1 else Verdict.PARTLY
    return next((v for v in (Verdict.FAILS, Verdict.OPEN, Verdict.LOOK) if v in verdicts), Verdict.UNKNOWN)


@dataclass(frozen=True)
class _Case:
    """What a criterion is looked at in."""

    study: Study
    reading: StudyReading
    rows: Rows
    level: float

    def of(self, condition: str) -> list[StudyRow]:
        """The policy that the reading is about, in a condition."""
        return self.rows.of(self.reading.policy, condition)

    def pairs(self, condition: str) -> list[tuple[StudyRow, StudyRow]]:
        """The same without trouble and with it."""
        return self.rows.pairs((self.reading.policy, self.study.baseline.key), (self.reading.policy, condition))

    def ratio(self, ratios: Sequence[float], rounding: float = 0.0) -> Interval:
        return paired_ratio(ratios, self.level, rounding)

    def lost(self, condition: str) -> StudyFinding | None:
        """What diverges with every seed, with trouble or already without."""
        struck = self.of(condition)
        for rows, words in ((self.of(self.study.baseline.key), " without trouble"), (struck, "")):
            if struck and rows and all(row.status == Status.DIVERGED.value for row in rows):
                said = f"diverges{words} ({count(len(rows), 'seed')})"
                return StudyFinding(is_within=False, seems=False, seeds=len(rows), remark=said, diverges=True)
        return None


_Look = Callable[[str], StudyFinding | None]


def _others_keep_their_pace(case: _Case) -> StudyJudgement:
    def look(condition: str) -> StudyFinding | None:
        known = [(a.pace, b.pace) for a, b in case.pairs(condition) if a.pace is not None and b.pace is not None]
        slower = [before / max(after, _STANDSTILL) for before, after in known if before > 0]
        return _beside(case.ratio(slower), SLOWDOWN, "times slower") if slower else None

    words = f"the nodes that are not struck do their iterations at most {SLOWDOWN:g} times slower than without trouble"
    return _judgement(case, PACE, words, look)


def _target_in_time(case: _Case) -> StudyJudgement:
    def look(condition: str) -> StudyFinding | None:
        known = [(before, after) for before, after in case.pairs(condition) if before.held_s]
        times = [after.held_s / before.held_s for before, after in known if before.held_s and after.held_s]
        if not known or len(times) == len(known):
            if not times:
                return None
            lost = len(case.pairs(condition)) - len(known)
            remark = f"{count(lost, 'seed')} miss it without trouble and say nothing" if lost else ""
            return replace(_beside(case.ratio(times, _rounding(known)), SLOWDOWN, "times as long"), remark=remark)
        missed = len(known) - len(times)
        return StudyFinding(
            is_within=None if times else False,
            seems=False,
            seeds=len(known),
            remark=f"missed with {missed} of {count(len(known), 'seed')}",
        )

    words = f"it takes at most {SLOWDOWN:g} times as long to the target as the same policy without trouble"
    return _judgement(case, "the target is still reached in time", words, look)


def _sooner_than_dpsgd(case: _Case) -> StudyJudgement:
    def look(condition: str) -> StudyFinding | None:
        pairs = case.rows.pairs((case.reading.policy, condition), (WAITING_FOR_ALL, condition))
        if not pairs:
            return None
        ratio = case.ratio([_time_ratio(*pair) for pair in pairs], _rounding(pairs))
        found = _beside(ratio, SOONER, "times D-PSGD's time")
        misses = [sum(row.held_s is None for row in side) for side in zip(*pairs, strict=True)]
        said = [f"{who} missed with {missed}" for who, missed in zip(("PaME", "D-PSGD"), misses, strict=True) if missed]
        return replace(found, remark="; ".join(said))

    words = (
        f"the time to the target is at most {percent(SOONER)} of that of D-PSGD waiting for all, in the same condition "
        "with the same seed; who misses the target is given the whole time of the run"
    )
    return _judgement(case, "the target is reached sooner than by D-PSGD", words, look)


def _data_still_heard(case: _Case) -> StudyJudgement:
    study = case.study

    def look(condition: str) -> StudyFinding | None:
        shares = [row.left_on(row.struck) for row in case.of(condition)]
        left = [100 * share for share in shares if share is not None]
        if not left:
            return None
        # spread by factors rather than by amounts; at an optimum of all data some nodes' own may be passed
        interval = case.ratio(left) if min(left) > 0 else paired_interval(left, case.level)
        return _beside(interval, 100 * study.target, "% left")

    words = (
        f"at the end of its time, at most {percent(study.target)} of the way is left for the mean model on the data of "
        f"the {study.struck} alone"
    )
    return _judgement(case, f"{study.struck}' data is still heard", words, look)


def _time_ratio(ours: StudyRow, theirs: StudyRow) -> float:
    """Of the times to the target; a miss is given the whole time, and two misses are alike."""
    whole = max((row.seconds for row in (ours, theirs) if row.seconds), default=None)
    if whole is None or (ours.held_s is None and theirs.held_s is None):
        return 1.0
    return (ours.held_s or whole) / (theirs.held_s or whole)


def _rounding(pairs: Sequence[tuple[StudyRow, StudyRow]]) -> float:
    """Of the logarithms of ratios of times, which are read on a grid."""
    return fmean(one.rounding + other.rounding for one, other in pairs)


def _beside(interval: Interval, limit: float, unit: str) -> StudyFinding:
    """An estimate that should be at most `limit`."""
    return StudyFinding(interval.is_below(limit), interval.estimate <= limit, interval.seeds, "", interval, unit)


def _judgement(case: _Case, about: str, criterion: str, look: _Look) -> StudyJudgement:
    looked = [(condition, case.lost(condition.key) or look(condition.key)) for condition in case.study.conditions[1:]]
    findings = tuple(replace(found, condition=condition.words) for condition, found in looked if found is not None)
    return StudyJudgement(case.reading.words, about, criterion, overall(findings), findings)
