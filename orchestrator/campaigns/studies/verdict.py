"""Whether a claim holds: the criteria in words, the same for every study and policy, over paired seeds.

A criterion is looked at in each condition in which something is done: an estimate over the seeds with an interval (95 %
in a study, more in a claim, where several decide together) beside a limit (`campaigns.verdicts`). A policy that
diverges with every seed does not hold. Where nothing was measured, nothing is said. What is exactly at its limit is
said to hold in 2.5 of 100 studies, by chance.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from orchestrator.campaigns.studies.grid import READINGS, WAITING_FOR_ALL, Policy, Study, StudyCondition, StudyReading
from orchestrator.campaigns.studies.measure import Rows, StudyRow
from orchestrator.campaigns.studies.tune import Tuned
from orchestrator.campaigns.verdicts import SLOWDOWN, Finding, Question, Test, Verdict, answered, at_most, overall
from orchestrator.experiment import Experiment
from orchestrator.number_words import count, percent
from orchestrator.results import Status
from orchestrator.results.paired import LEVEL, paired_interval, paired_ratio

SOONER = 0.95
"""The share of another's time that is called sooner."""
PACE = "the other nodes keep their pace"
_STANDSTILL = 1e-9


@dataclass(frozen=True)
class Criterion:
    about: str
    words: str
    """When it holds."""
    look: "Callable[[_JudgedCase], Question | None]"
    """What the seeds say of it in one condition."""
    decides: bool = True
    """In a claim."""


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


@dataclass(frozen=True)
class StudyOutcome:
    study: Study
    base: Experiment
    tuned: tuple[Tuned, ...]
    """PaME and D-PSGD; empty: it did not come so far."""
    seeds: tuple[int, ...]
    command: str
    file: str
    """The name of the base experiment's file."""
    predicted: Sequence[StudyRow]
    measured: Sequence[StudyRow]
    trouble: str | None = None
    """Why it is not complete."""

    @cached_property
    def judgements(self) -> list[StudyJudgement]:
        """By the simulator."""
        return judge(self.study, Rows(self.predicted))

    @cached_property
    def measured_judgements(self) -> list[StudyJudgement]:
        """By the real nodes, as far as they tell."""
        return judge(self.study, Rows([row for row in self.measured if row.ran and not row.cpu_bound]))

    @property
    def policies(self) -> tuple[Policy, ...]:
        return self.study.policies(self.base)

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
        for criterion in _criteria(study):
            cases = [_JudgedCase(study, reading, rows, criterion, condition) for condition in study.conditions[1:]]
            looked = [case.lost() or criterion.look(case) for case in cases]
            yield reading, criterion, [question for question in looked if question is not None]


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
class _JudgedCase:
    """A criterion for a reading in a condition."""

    study: Study
    reading: StudyReading
    rows: Rows
    criterion: Criterion
    condition: StudyCondition

    def of(self, condition: StudyCondition) -> list[StudyRow]:
        """The policy that the reading is about, in a condition."""
        return self.rows.of(self.reading.policy, condition.key)

    def pairs(self) -> list[tuple[StudyRow, StudyRow]]:
        """The same without trouble and with it."""
        return self.rows.pairs(*((self.reading.policy, each.key) for each in (self.study.baseline, self.condition)))

    def question(self, answer: Test | Verdict, seeds: int, remark: str = "", diverges: bool = False) -> Question:
        """`remark`: what was seen besides the estimate."""
        where = (self.criterion.about, self.condition.words, self.reading.words)
        return Question(*where, remark, answer, seeds, self.criterion.decides, diverges)

    def ratio(
        self, ratios: Sequence[float], limit: float, unit: str, rounding: float = 0.0, remark: str = ""
    ) -> Question:
        """That should be at most `limit`, in the mean over the seeds."""
        test = Test(lambda level: paired_ratio(ratios, level, rounding), at_most(limit), unit)
        return self.question(test, len(ratios), remark)

    def lost(self) -> Question | None:
        """What diverges with every seed, with trouble or already without."""
        struck = self.of(self.condition)
        for rows, words in ((self.of(self.study.baseline), " without trouble"), (struck, "")):
            if struck and rows and all(row.status == Status.DIVERGED.value for row in rows):
                said = f"diverges{words} ({count(len(rows), 'seed')})"
                return self.question(Verdict.FAILS, len(rows), said, diverges=True)
        return None


def _pace(case: _JudgedCase) -> Question | None:
    known = [(a.pace, b.pace) for a, b in case.pairs() if a.pace is not None and b.pace is not None]
    slower = [before / max(after, _STANDSTILL) for before, after in known if before > 0]
    return case.ratio(slower, SLOWDOWN, "times slower") if slower else None


def _time(case: _JudgedCase) -> Question | None:
    known = [(before, after) for before, after in case.pairs() if before.held_s]
    times = [after.held_s / before.held_s for before, after in known if before.held_s and after.held_s]
    if len(times) < len(known):
        said = f"missed with {len(known) - len(times)} of {count(len(known), 'seed')}"
        return case.question(Verdict.OPEN if times else Verdict.FAILS, len(known), said)
    lost = len(case.pairs()) - len(known)
    remark = f"{count(lost, 'seed')} miss it without trouble and say nothing" if lost else ""
    return case.ratio(times, SLOWDOWN, "times as long", _rounding(known), remark) if times else None


def _sooner(case: _JudgedCase) -> Question | None:
    condition = case.condition.key
    pairs = case.rows.pairs((case.reading.policy, condition), (WAITING_FOR_ALL, condition))
    if not pairs:
        return None
    misses = [sum(row.held_s is None for row in side) for side in zip(*pairs, strict=True)]
    said = [f"{who} missed with {missed}" for who, missed in zip(("PaME", "D-PSGD"), misses, strict=True) if missed]
    times = [_time_ratio(*pair) for pair in pairs]
    return case.ratio(times, SOONER, "times D-PSGD's time", _rounding(pairs), "; ".join(said))


def _heard(case: _JudgedCase) -> Question | None:
    shares = [row.left_on(row.struck) for row in case.of(case.condition)]
    left = [100 * share for share in shares if share is not None]
    if not left:
        return None
    # spread by factors rather than by amounts; at an optimum of all data some nodes' own may be passed
    spread = paired_ratio if min(left) > 0 else paired_interval
    test = Test(lambda level: spread(left, level), at_most(100 * case.study.target), "% left")
    return case.question(test, len(left))


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


def _time_ratio(ours: StudyRow, theirs: StudyRow) -> float:
    """Of the times to the target; a miss is given the whole time, and two misses are alike."""
    whole = max((row.seconds for row in (ours, theirs) if row.seconds), default=None)
    if whole is None or (ours.held_s is None and theirs.held_s is None):
        return 1.0
    return (ours.held_s or whole) / (theirs.held_s or whole)


def _rounding(pairs: Sequence[tuple[StudyRow, StudyRow]]) -> float:
    """Of the logarithms of ratios of times, which are read on a grid."""
    return fmean(one.rounding + other.rounding for one, other in pairs)
