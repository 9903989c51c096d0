"""How many times as much: ratios of two algorithms with the same seed, and an interval for their mean."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.paired import ENOUGH_SEEDS, paired_ratio


@dataclass(frozen=True)
class Ratio:
    """The geometric mean over the seeds with which the first got there; the interval is None with too few of them."""

    times: float
    seeds: int
    low: float | None = None
    high: float | None = None
    missed: int = 0
    """With how many of them the second did not: it then counts with all that it took, and this is a lower bound."""

    @property
    def is_decided(self) -> bool:
        """Whether the interval leaves no doubt that it is more."""
        return self.low is not None and self.low > 1.0

    @property
    def words(self) -> str:
        """In a sentence."""
        times = f"{'at least ' if self.missed else ''}{_short(self.times)} times that"
        missed = f"; it misses with {self.missed} of {self.seeds} seeds" if self.missed else ""
        if self.low is None or self.high is None:
            return f"{times} (a look: {self.seeds} of the {ENOUGH_SEEDS} seeds that an interval needs){missed}"
        doubt = "" if self.is_decided else ": cannot be told apart"
        end = "∞" if self.missed else _short(self.high)
        return f"{times} ({_short(self.low)} … {end}){doubt}{missed}"


def ratio_by_seed(
    first: Mapping[int, float],
    second: Mapping[int, float],
    spent: Mapping[int, float] | None = None,
    rounding: float = 0.0,
) -> Ratio | None:
    """second / first, seed by seed; None: no seed has both.

    `spent`: all that the second took with a seed with which it did not get there; `rounding`: the variance that the
    grid on which both are read gives to the logarithm of a ratio.
    """
    lost = {seed: took for seed, took in (spent or {}).items() if seed in first and seed not in second}
    missed = {seed: max(took, first[seed]) for seed, took in lost.items()}
    seconds = {**second, **missed}
    values = [seconds[seed] / first[seed] for seed in first if seed in seconds and first[seed] > 0 < seconds[seed]]
    if not values:
        return None
    found = paired_ratio(values, rounding=rounding)
    low, high = (None, None) if found.is_look else (found.low, found.high)
    return Ratio(found.estimate, found.seeds, low, high, len(missed))


def _short(value: float) -> str:
    return f"{value:.3g}"
