"""How many times as much: ratios of two algorithms with the same seed, and an interval for their mean."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchestrator.results.paired import ENOUGH_SEEDS, Taken, censored, censored_ratio


@dataclass(frozen=True)
class Ratio:
    """How many times the first's the second needs: the geometric mean over the seeds with which either got there."""

    times: float
    seeds: int
    low: float | None = None
    """None: too few seeds for an interval."""
    high: float | None = None
    """None: the second missed, so that the interval has no end."""
    missed: tuple[int, int] = (0, 0)
    """How often the first missed where the second did not, and the other way round."""

    @property
    def is_decided(self) -> bool:
        """Whether the interval leaves no doubt that it is more."""
        return self.low is not None and self.low > 1.0

    @property
    def words(self) -> str:
        first, second = self.missed
        times = f"{'at least ' if second and not first else ''}{_short(self.times)} times that"
        said = f"; it misses with {second} of {self.seeds} seeds" if second else ""
        said += f"; the first misses with {first} of {self.seeds} seeds" if first else ""
        if self.low is None:
            return f"{times} (a look: {self.seeds} of the {ENOUGH_SEEDS} seeds that an interval needs){said}"
        doubt = "" if self.is_decided else ": cannot be told apart"
        end = "∞" if self.high is None else _short(self.high)
        return f"{times} ({_short(self.low)} … {end}){doubt}{said}"


def ratio_by_seed(first: Mapping[int, Taken], second: Mapping[int, Taken], rounding: float = 0.0) -> Ratio | None:
    """second / first, seed by seed; None: no seed has both, or nobody got there.

    `rounding`: the variance that the grid on which both are read gives to the logarithm of a ratio.
    """
    both = [(second[seed], first[seed]) for seed in first if seed in second]
    pairs = censored(both)
    values = tuple(pair for pair in pairs.values if min(pair) > 0)
    if not values:
        return None
    found = censored_ratio(replace(pairs, values=values), rounding=rounding)
    theirs, ours = pairs.missed
    low, high = (None, None) if found.is_look else (found.low, None if theirs else found.high)
    return Ratio(found.estimate, found.seeds, low, high, (ours, theirs))


def _short(value: float) -> str:
    return f"{value:.3g}"
