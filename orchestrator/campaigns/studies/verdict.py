"""Whether a claim holds: the criteria in words, the same for every study and policy, over paired seeds.

A criterion is looked at in each condition in which something is done: an estimate over the seeds with an interval (95 %
in a study, more in a claim, where several decide together) beside a limit (`campaigns.verdicts`). A policy that
diverges with every seed does not hold. Where nothing was measured, nothing is said. What is exactly at its limit is
said to hold in 2.5 of 100 studies, by chance.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from orchestrator.campaigns.studies.grid import READINGS, WAITING_FOR_ALL, Policy, Study, StudyReading
from orchestrator.campaigns.studies.measure import Rows, StudyRow
from orchestrator.campaigns.studies.tune import Tuned
from orchestrator.campaigns.verdicts import Finding, Question, Test, Verdict, answered, at_most, overall
from orchestrator.experiment import Experiment
from orchestrator.number_words import count, percent
from orchestrator.results import Status
from orchestrator.results.paired import LEVEL, paired_interval, paired_ratio

SLOWDOWN = 2.0
"""How many times as long as without trouble is still called robust."""
SOONER = 0.95
"""The share of another's time that is called sooner."""
PACE = "the other nodes keep their pace"
_STANDSTILL = 1e-9


@dataclass(frozen=True)
class _Seen:
    """What the seeds say of a criterion in one condition."""

    answer: Test | Verdict
    seeds: int
    remark: str = ""
    """What was seen besides the estimate."""
    diverges: bool = False


@dataclass(frozen=True)
class Criterion:
    about: str
    words: str
    """When it holds."""
    look: "Callable[[_Case, str], _Seen | None]"
    """In a condition."""
    decides: bool = True
    """In a claim."""

    def question(self, reading: StudyReading, condition: str, seen: _Seen) -> Question:
        known = (seen.remark, seen.answer, seen.seeds, self.decides, seen.diverges)
        return Question(self.about, condition, reading.words, *known)


@dataclass(frozen=True)
class StudyJudgement:
    reading: str
    about: str
    """The criterion's name."""
    criterion: str
    """When it holds."""
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        return overall([finding.verdict for finding in self.findings])

    @property
    def where(self) -> str:
        """In which conditions, if not in all or none."""
        passed = [finding.place for finding in self.findings if finding.verdict is Verdict.HOLDS]
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


def judge(study: Study, rows: Rows) -> list[StudyJudgement]:
    """Every criterion for every reading of the study's claim."""
    return [
        StudyJudgement(reading.words, criterion.about, criterion.words, tuple(answered(q, LEVEL) for q in questions))
        for reading, criterion, questions in asked(study, rows)
    ]


def asked(study: Study, rows: Rows) -> Iterator[tuple[StudyReading, Criterion, list[Question]]]:
    """A question for each condition in which something was done and measured."""
    for reading in READINGS:
        case = _Case(study, reading, rows)
        for criterion in _criteria(study):
            looked = [(c, case.lost(c.key) or criterion.look(case, c.key)) for c in study.conditions[1:]]
            said = [(condition.words, seen) for condition, seen in looked if seen is not None]
            yield reading, criterion, [criterion.question(reading, words, seen) for words, seen in said]


def verdict_words(finding: Finding) -> str:
    """The verdict; of a look, what was seen."""
    look = f": {'yes' if finding.seems else 'no'}" if finding.verdict is Verdict.LOOK else ""
    return f"{finding.verdict.value}{look}"


def evidence_words(finding: Finding) -> str:
    """The estimate with its ends, and what else was seen."""
    found = finding.effect
    if found is None:
        return finding.evidence
    ends = f" ({found.low:.3g} … {found.high:.3g})" if found.seeds > 1 else ""
    return "; ".join(filter(None, (f"{found.estimate:.3g}{ends} {finding.unit}", finding.evidence)))


@dataclass(frozen=True)
class _Case:
    """What a criterion is looked at in."""

    study: Study
    reading: StudyReading
    rows: Rows

    def of(self, condition: str) -> list[StudyRow]:
        """The policy that the reading is about, in a condition."""
        return self.rows.of(self.reading.policy, condition)

    def pairs(self, condition: str) -> list[tuple[StudyRow, StudyRow]]:
        """The same without trouble and with it."""
        return self.rows.pairs((self.reading.policy, self.study.baseline.key), (self.reading.policy, condition))

    def lost(self, condition: str) -> _Seen | None:
        """What diverges with every seed, with trouble or already without."""
        struck = self.of(condition)
        for rows, words in ((self.of(self.study.baseline.key), " without trouble"), (struck, "")):
            if struck and rows and all(row.status == Status.DIVERGED.value for row in rows):
                said = f"diverges{words} ({count(len(rows), 'seed')})"
                return _Seen(Verdict.FAILS, len(rows), said, diverges=True)
        return None


def _pace(case: _Case, condition: str) -> _Seen | None:
    known = [(a.pace, b.pace) for a, b in case.pairs(condition) if a.pace is not None and b.pace is not None]
    slower = [before / max(after, _STANDSTILL) for before, after in known if before > 0]
    return _ratio(slower, SLOWDOWN, "times slower") if slower else None


def _time(case: _Case, condition: str) -> _Seen | None:
    known = [(before, after) for before, after in case.pairs(condition) if before.held_s]
    times = [after.held_s / before.held_s for before, after in known if before.held_s and after.held_s]
    if len(times) < len(known):
        said = f"missed with {len(known) - len(times)} of {count(len(known), 'seed')}"
        return _Seen(Verdict.OPEN if times else Verdict.FAILS, len(known), said)
    lost = len(case.pairs(condition)) - len(known)
    remark = f"{count(lost, 'seed')} miss it without trouble and say nothing" if lost else ""
    return _ratio(times, SLOWDOWN, "times as long", _rounding(known), remark) if times else None


def _sooner(case: _Case, condition: str) -> _Seen | None:
    pairs = case.rows.pairs((case.reading.policy, condition), (WAITING_FOR_ALL, condition))
    if not pairs:
        return None
    misses = [sum(row.held_s is None for row in side) for side in zip(*pairs, strict=True)]
    said = [f"{who} missed with {missed}" for who, missed in zip(("PaME", "D-PSGD"), misses, strict=True) if missed]
    times = [_time_ratio(*pair) for pair in pairs]
    return _ratio(times, SOONER, "times D-PSGD's time", _rounding(pairs), "; ".join(said))


def _heard(case: _Case, condition: str) -> _Seen | None:
    shares = [row.left_on(row.struck) for row in case.of(condition)]
    left = [100 * share for share in shares if share is not None]
    if not left:
        return None
    # spread by factors rather than by amounts; at an optimum of all data some nodes' own may be passed
    spread = paired_ratio if min(left) > 0 else paired_interval
    return _Seen(Test(lambda level: spread(left, level), at_most(100 * case.study.target), "% left"), len(left))


def _criteria(study: Study) -> tuple[Criterion, ...]:
    target = percent(study.target)
    return (
        Criterion(
            PACE,
            f"the nodes that are not struck do their iterations at most {SLOWDOWN:g} times slower than without trouble",
            _pace,
            decides=False,
        ),
        Criterion(
            "the target is still reached in time",
            f"it takes at most {SLOWDOWN:g} times as long to the target as the same policy without trouble",
            _time,
        ),
        Criterion(
            "the target is reached sooner than by D-PSGD",
            f"the time to the target is at most {percent(SOONER)} of that of D-PSGD waiting for all, in the same "
            "condition with the same seed; who misses the target is given the whole time of the run",
            _sooner,
        ),
        Criterion(
            f"{study.struck}' data is still heard",
            f"at the end of its time, at most {target} of the way is left for the mean model on the data of the "
            f"{study.struck} alone",
            _heard,
        ),
    )


def _ratio(ratios: Sequence[float], limit: float, unit: str, rounding: float = 0.0, remark: str = "") -> _Seen:
    """That should be at most `limit`, in the mean over the seeds."""
    test = Test(lambda level: paired_ratio(ratios, level, rounding), at_most(limit), unit)
    return _Seen(test, len(ratios), remark)


def _time_ratio(ours: StudyRow, theirs: StudyRow) -> float:
    """Of the times to the target; a miss is given the whole time, and two misses are alike."""
    whole = max((row.seconds for row in (ours, theirs) if row.seconds), default=None)
    if whole is None or (ours.held_s is None and theirs.held_s is None):
        return 1.0
    return (ours.held_s or whole) / (theirs.held_s or whole)


def _rounding(pairs: Sequence[tuple[StudyRow, StudyRow]]) -> float:
    """Of the logarithms of ratios of times, which are read on a grid."""
    return fmean(one.rounding + other.rounding for one, other in pairs)
