"""Two settings under the same seeds: how many times the one is the other, or how far apart, with an interval.

A seed gives both settings the same data and graph, so what it does to both cancels in the pair. The interval is
Student's t over the pairs (of logarithms, for ratios): from three to ten pairs a bootstrap has too few distinct samples
for a 95 % interval. A value that is read on a grid is known to within the grid: pairs that agree by luck of the grid
are given the spread of its rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import fmean, stdev


@dataclass(frozen=True)
class Effect:
    """An effect size, and where it lies with the confidence asked for."""

    size: float
    low: float
    high: float
    pairs: int

    @property
    def has_interval(self) -> bool:
        """One pair has no spread."""
        return self.pairs > 1


def ratio(pairs: Sequence[tuple[float, float]], confidence: float, grid: float = 0.0) -> Effect | None:
    """The geometric mean of first / second, all above 0; `grid`: how far apart the values are that can be read."""
    if not pairs:
        return None
    logs = [log(one / other) for one, other in pairs]
    rounding = fmean((grid / one) ** 2 / 12 + (grid / other) ** 2 / 12 for one, other in pairs)
    low, high = _interval(logs, confidence, rounding)
    return Effect(exp(fmean(logs)), 0.0 if low == -inf else exp(low), _exp(high), len(logs))


def difference(values: Sequence[float], confidence: float, rounding: float = 0.0) -> Effect | None:
    """The mean of what is a difference already, one value per seed; `rounding`: the variance that its grid gives it."""
    if not values:
        return None
    return Effect(fmean(values), *_interval(values, confidence, rounding), len(values))


def _interval(values: Sequence[float], confidence: float, rounding: float) -> tuple[float, float]:
    if len(values) < 2:
        return -inf, inf
    from scipy.special import stdtrit  # a tenth of a second that most commands never need

    middle, spread = fmean(values), max(stdev(values), sqrt(rounding))
    half = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * spread / sqrt(len(values))
    return middle - half, middle + half


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
