"""What several seeds say together: the mean of paired differences, or of ratios, with an interval (Student's t).

A pair is the same seed twice, so that what the seeds have in common cancels. Ratios are averaged as logarithms. Values
that were read on a grid may agree by luck of the grid: `rounding`, its variance, is the least spread they are given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import fmean, stdev

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

    def is_below(self, limit: float) -> bool | None:
        """Whether the true value is at most `limit`; None: it cannot be told."""
        if self.is_look or self.low <= limit < self.high:
            return None
        return self.high <= limit


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
