"""Several seeds as one figure: the median, and the range from the lowest to the highest."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median


@dataclass(frozen=True)
class Spread:
    """Of those runs that have the figure; `median` is infinite if so many missed that it is among the misses."""

    median: float
    low: float
    high: float
    runs: int
    missed: int = 0

    @property
    def is_missed(self) -> bool:
        return self.median == inf


def spread(values: Sequence[float | None]) -> Spread | None:
    """Runs without the figure are left out."""
    known = [value for value in values if value is not None]
    return Spread(median(known), min(known), max(known), len(known)) if known else None


def spread_of_hits(values: Sequence[float | None]) -> Spread | None:
    """A run without the figure missed: that is later than any that did not."""
    if not values:
        return None
    known = [value for value in values if value is not None]
    ends = (min(known), max(known)) if known else (inf, inf)
    # the upper of two middle ones: half a miss is a miss
    middle = sorted(inf if value is None else value for value in values)[len(values) // 2]
    if len(known) == len(values):
        middle = median(known)
    return Spread(middle, *ends, len(values), len(values) - len(known))
