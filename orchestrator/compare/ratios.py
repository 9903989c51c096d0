"""How many times as much: ratios of two algorithms with the same seed, and an interval for their mean."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.paired import ENOUGH_SEEDS, paired_ratio


@dataclass(frozen=True)
class Ratio:
    """The geometric mean over the seeds that both have; the interval is None with too few of them."""

    times: float
    seeds: int
    low: float | None = None
    high: float | None = None

    @property
    def is_decided(self) -> bool:
        """Whether the interval leaves no doubt that it is more."""
        return self.low is not None and self.low > 1.0

    @property
    def words(self) -> str:
        """In a sentence."""
        times = f"{_short(self.times)} times that"
        if self.low is None or self.high is None:
            return f"{times} (a look: {self.seeds} of the {ENOUGH_SEEDS} seeds that an interval needs)"
        doubt = "" if self.is_decided else ": cannot be told apart"
        return f"{times} ({_short(self.low)} … {_short(self.high)}){doubt}"


def ratio_by_seed(first: Mapping[int, float], second: Mapping[int, float]) -> Ratio | None:
    """second / first, seed by seed; None: no seed has both."""
    values = [second[seed] / first[seed] for seed in first if seed in second and first[seed] > 0 < second[seed]]
    if not values:
        return None
    found = paired_ratio(values)
    return Ratio(found.estimate, found.seeds, *(() if found.is_look else (found.low, found.high)))


def _short(value: float) -> str:
    return f"{value:.3g}"
