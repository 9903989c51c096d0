"""What several seeds say together: the mean of paired differences, or of ratios, with an interval (Student's t).

A pair is the same seed twice, so that what the seeds have in common cancels. Ratios are averaged as logarithms. Values
that were read on a grid may agree by luck of the grid: `rounding`, its variance, is the least spread they are given.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt
from statistics import fmean, median, stdev

ENOUGH_SEEDS = 3
"""With fewer a difference is a look, never a verdict."""
LEVEL = 0.95
_LARGEST = 700.0
"""Beyond it an exponential overflows."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and where the true value lies with the asked confidence; a single value has no ends."""

    estimate: float
    low: float
    high: float
    seeds: int

    @property
    def is_look(self) -> bool:
        """Whether the seeds are too few for any verdict."""
        return self.seeds < ENOUGH_SEEDS


def paired_interval(values: Sequence[float], level: float = LEVEL, rounding: float = 0.0) -> Interval:
    """Of differences or any other figure, one per seed."""
    count, middle = len(values), fmean(values)
    if count == 1:
        return Interval(middle, -inf, inf, count)
    from scipy.special import stdtrit  # a tenth of a second that most commands never need

    half = float(stdtrit(count - 1, (1 + level) / 2)) * max(stdev(values), sqrt(rounding)) / sqrt(count)
    return Interval(middle, middle - half, middle + half, count)


def paired_ratio(values: Sequence[float], level: float = LEVEL, rounding: float = 0.0) -> Interval:
    """Of ratios above 0, one per seed: their geometric mean; `rounding`: of their logarithms."""
    logs = paired_interval([log(value) for value in values], level, rounding)
    return Interval(exp(logs.estimate), exp(logs.low), exp(logs.high) if logs.high < _LARGEST else inf, logs.seeds)


def share_interval(hits: int, of: int, level: float = LEVEL) -> Interval:
    """Of something that each seed does or does not do: its share, with the exact interval (Clopper-Pearson)."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(hits, of - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, of - hits, 1 - tail)) if hits < of else 1.0
    return Interval(hits / of, low, high, of)


@dataclass(frozen=True)
class Taken:
    """What a run took to a target, None for a miss, and all that it spent."""

    hit: float | None
    spent: float
    diverged: bool = False
    """Then it would never get there, and counts as long as its partner ran."""


@dataclass(frozen=True)
class CensoredPairs:
    """What two took, seed by seed: who misses took more than all it had, and at least what the other took."""

    values: tuple[tuple[float, float], ...]
    seeds: int
    """Also those that say nothing, because both missed."""
    missed: tuple[int, int] = (0, 0)
    """How often the first missed where the second did not, and the other way round."""

    def middle(self, side: int) -> float:
        """The median of the first (0) or the second (1)."""
        return median(pair[side] for pair in self.values)

    def words(self, side: int, times: float = 1.0) -> str:
        return f"{times * self.middle(side):.3g}" if self.values else "missed"


def censored(both: Sequence[tuple[Taken, Taken]]) -> CensoredPairs:
    """Seed by seed; where both miss, the pair says nothing."""
    known = [pair for pair in both if any(taken.hit is not None for taken in pair)]
    values = tuple((_at_least(one, other), _at_least(other, one)) for one, other in known)
    missed = sum(one.hit is None for one, _ in known), sum(other.hit is None for _, other in known)
    return CensoredPairs(values, len(both), missed)


def _at_least(taken: Taken, partner: Taken) -> float:
    if taken.hit is not None:
        return taken.hit
    reached = taken.spent if partner.hit is None else max(taken.spent, partner.hit)
    return max(reached, partner.spent) if taken.diverged else reached


def censored_ratio(pairs: CensoredPairs, level: float = LEVEL, rounding: float = 0.0) -> Interval:
    """The first over the second; after a miss the interval has no end on that side."""
    effect = paired_ratio([one / other for one, other in pairs.values], level, rounding)
    low, high = 0.0 if pairs.missed[1] else effect.low, inf if pairs.missed[0] else effect.high
    return replace(effect, low=low, high=high)
