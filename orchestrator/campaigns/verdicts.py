"""How claims and studies are judged: questions about paired seeds, each answered by an interval and a rule.

If the whole interval says so, it holds; if all of it says otherwise, it does not hold; else it cannot be told, for the
seeds are too few for the difference seen. Fewer than three seeds are a look. Comparisons answer in the same words.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from enum import Enum
from math import isfinite

from orchestrator.results.paired import ENOUGH_SEEDS, Interval

MARGIN = 0.05
"""A gain that is surely smaller than this counts as none."""
SLOWDOWN = 2.0
"""How many times as long as without trouble is still called robust."""


class Verdict(Enum):
    """What is said of a part, a reading or a claim."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    FAILS = "does not hold"
    OPEN = "cannot be told"
    LOOK = "a look"
    UNKNOWN = "not measured"


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
    """A part of a claim, or a criterion of a study, in one place, under one reading of the paper."""

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
class Finding(Question):
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
    def seems(self) -> bool:
        """What the estimate says by itself."""
        if self.effect is None or isinstance(self.answer, Verdict):
            return False
        point = replace(self.effect, low=self.effect.estimate, high=self.effect.estimate)
        return self.answer.rule(point) is Verdict.HOLDS

    @property
    def size(self) -> str:
        """The effect with its interval, in words."""
        effect = self.effect
        if effect is None:
            return ""
        middle = f"{'bound: ' if self.is_bound else ''}{effect.estimate:.3g} {self.unit}"
        if effect.seeds < 2:
            return middle
        return f"{middle} ({effect.low:.3g} … {f'{effect.high:.3g}' if isfinite(effect.high) else '∞'})"


def answered(question: Question, confidence: float) -> Finding:
    effect = question.answer.estimate(confidence) if isinstance(question.answer, Test) else None
    return Finding(**vars(question), verdict=_verdict(question, effect), effect=effect)


def _verdict(question: Question, effect: Interval | None) -> Verdict:
    if question.seeds < ENOUGH_SEEDS:
        return Verdict.LOOK
    if isinstance(question.answer, Verdict):
        return question.answer
    if effect is None or effect.seeds < ENOUGH_SEEDS:
        return Verdict.OPEN
    return question.answer.rule(effect)


def overall(verdicts: Collection[Verdict]) -> Verdict:
    """In all, some or none of the places; what is refuted somewhere and holds nowhere does not hold."""
    if Verdict.HOLDS in verdicts:
        return Verdict.HOLDS if set(verdicts) == {Verdict.HOLDS} else Verdict.PARTLY
    order = (Verdict.PARTLY, Verdict.FAILS, Verdict.OPEN, Verdict.LOOK)
    return next((verdict for verdict in order if verdict in verdicts), Verdict.UNKNOWN)
