"""How a claim is judged: parts that decide, parts that can only spoil, each with a verdict of its own.

A part is a question about paired seeds: an effect with an interval, and a rule that turns it into a verdict. The
intervals of the parts that decide hold together: with k of them each has the confidence 1 - 0.05 / k, so that pure
noise makes any of them hold wrongly in at most 2.5 of 100 claims. A part that can only spoil (to reach the target at
all, say) makes no claim hold, and if it fails `holds` becomes `holds partly`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite

from orchestrator.campaigns.verdicts import Verdict
from orchestrator.results.paired import ENOUGH_SEEDS, LEVEL, Interval

MARGIN = 0.05
"""A gain that is surely smaller than this counts as none."""


_NAMED = 4
"""So many places are named in a headline."""
_SPOILS = (Verdict.FAILS, Verdict.PARTLY)
Rule = Callable[[Interval], Verdict]
Estimate = Callable[[float], Interval | None]
"""From a confidence."""


def smaller(effect: Interval) -> Verdict:
    """A ratio is below 1; it is not if the gain is surely less than the margin, or there is a loss."""
    return _sides(effect.high < 1.0, effect.low > 1.0 - MARGIN)


def larger(effect: Interval) -> Verdict:
    """A ratio is above 1; it is not if it is surely less than the margin above, or below."""
    return _sides(effect.low > 1.0, effect.high < 1.0 + MARGIN)


def at_most(bound: float) -> Rule:
    return lambda effect: _sides(effect.high <= bound, effect.low > bound)


def within(low: float, high: float) -> Rule:
    return lambda effect: _sides(low <= effect.low and effect.high <= high, effect.high < low or effect.low > high)


def positive(margin: float) -> Rule:
    """A difference is above 0; it is not if it is surely below the margin."""
    return lambda effect: _sides(effect.low > 0.0, effect.high < margin)


def _sides(holds: bool, fails: bool) -> Verdict:
    """A gain that is surely there and surely too small does not hold."""
    return Verdict.FAILS if fails else Verdict.HOLDS if holds else Verdict.OPEN


@dataclass(frozen=True)
class Test:
    """A question that an interval answers."""

    __test__ = False  # not one of pytest's

    estimate: Estimate
    rule: Rule
    unit: str = "times"
    """What the effect is counted in; `times` for ratios."""
    is_bound: bool = False
    """Whether a run missed, so that the effect is only known to be on one side."""


@dataclass(frozen=True)
class Question:
    """A part of a claim in one place, under one reading of the paper."""

    part: str
    place: str
    reading: str
    """Empty where there is only one."""
    evidence: str
    """What was measured, in words."""
    answer: Test | Verdict
    """A verdict where nothing is left to estimate: it diverged."""
    seeds: int
    decides: bool = True
    diverges: bool = False


@dataclass(frozen=True)
class ClaimFinding(Question):
    """A question that was answered."""

    verdict: Verdict = field(kw_only=True)
    effect: Interval | None = field(kw_only=True)

    @property
    def unit(self) -> str:
        return self.answer.unit if isinstance(self.answer, Test) else ""

    @property
    def is_bound(self) -> bool:
        return isinstance(self.answer, Test) and self.answer.is_bound

    @property
    def size(self) -> str:
        """The effect with its interval, in words."""
        effect = self.effect
        if effect is None:
            return ""
        middle = f"{'bound: ' if self.is_bound else ''}{effect.estimate:.3g}"
        if effect.seeds < 2:
            return f"{middle} {self.unit}"
        return f"{middle} {self.unit} ({effect.low:.3g} … {_end(effect.high)})"

    @property
    def words(self) -> str:
        return ", ".join(filter(None, (self.part, self.place)))


@dataclass(frozen=True)
class ClaimJudgement:
    """What is said of a claim, and what that rests on."""

    verdict: Verdict
    findings: tuple[ClaimFinding, ...]
    confidence: float = LEVEL
    """Of each interval."""

    @property
    def readings(self) -> dict[str, Verdict]:
        """By reading of the paper, where there is more than one."""
        names = dict.fromkeys(finding.reading for finding in self.findings if finding.reading)
        return {name: headline([found for found in self.findings if found.reading == name]) for name in names}

    @property
    def met(self) -> str:
        deciding = [finding for finding in self.findings if finding.decides]
        return f"{sum(finding.verdict is Verdict.HOLDS for finding in deciding)} of {len(deciding)}"

    @property
    def where(self) -> str:
        """Reading by reading; and if not everywhere or nowhere, where it holds and where not."""
        readings = self.readings
        if not readings:
            return _where(self.findings) if self.verdict is Verdict.PARTLY else ""
        said = []
        for name, verdict in readings.items():
            detail = _where([f for f in self.findings if f.reading == name]) if verdict is Verdict.PARTLY else ""
            said.append(f"{name}: {verdict.value}{f' ({detail})' if detail else ''}")
        return "; ".join(said)


def judge(questions: Sequence[Question]) -> ClaimJudgement:
    confidence = together(sum(question.decides and isinstance(question.answer, Test) for question in questions))
    findings = tuple(_answered(question, confidence) for question in questions)
    return ClaimJudgement(headline(findings), findings, confidence)


def together(intervals: int) -> float:
    """The confidence of each of so many intervals that hold together."""
    return 1.0 - (1.0 - LEVEL) / max(1, intervals)


def headline(findings: Sequence[ClaimFinding]) -> Verdict:
    """From the parts that decide; the others can only spoil."""
    verdicts = [finding.verdict for finding in findings if finding.decides]
    if not verdicts:
        return Verdict.UNKNOWN
    if Verdict.HOLDS not in verdicts:
        # what is refuted somewhere and holds nowhere does not hold
        return next(
            v for v in (Verdict.PARTLY, Verdict.FAILS, Verdict.OPEN, Verdict.LOOK, Verdict.UNKNOWN) if v in verdicts
        )
    spoilt = any(finding.verdict in _SPOILS for finding in findings)
    return Verdict.HOLDS if set(verdicts) == {Verdict.HOLDS} and not spoilt else Verdict.PARTLY


def counted(passed: int, of: int) -> Verdict:
    """Of something that each run does or does not do."""
    return Verdict.HOLDS if passed == of else Verdict.FAILS if not passed else Verdict.PARTLY


def _answered(question: Question, confidence: float) -> ClaimFinding:
    effect = question.answer.estimate(confidence) if isinstance(question.answer, Test) else None
    return ClaimFinding(**vars(question), verdict=_verdict(question, effect), effect=effect)


def _verdict(question: Question, effect: Interval | None) -> Verdict:
    if question.seeds < ENOUGH_SEEDS:
        return Verdict.LOOK
    if isinstance(question.answer, Verdict):
        return question.answer
    if effect is None or effect.seeds < ENOUGH_SEEDS:
        return Verdict.OPEN
    return question.answer.rule(effect)


def _where(findings: Sequence[ClaimFinding]) -> str:
    """Whichever list is the shorter; what spoils is named in any case."""
    deciding = [finding for finding in findings if finding.decides]
    held = [_said(finding) for finding in deciding if finding.verdict is Verdict.HOLDS]
    other = [_said(finding) for finding in deciding if finding.verdict is not Verdict.HOLDS]
    spoilt = [_said(finding) for finding in findings if not finding.decides and finding.verdict in _SPOILS]
    if len(held) < len(other):
        return f"only: {_some(held)}"
    return f"not: {_some([*other, *spoilt])}"


def _some(names: Sequence[str]) -> str:
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _said(finding: ClaimFinding) -> str:
    return f"{finding.words} (diverges)" if finding.diverges else finding.words


def _end(value: float) -> str:
    return f"{value:.3g}" if isfinite(value) else "∞"
