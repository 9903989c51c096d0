"""How many times as much: ratios of two algorithms with the same seed, and an interval for their mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from statistics import mean, stdev

from scipy.stats import t as student

SEEDS_FOR_A_VERDICT = 3
_COVERS = 0.95


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
            return f"{times} (a look: {self.seeds} of the {SEEDS_FOR_A_VERDICT} seeds that an interval needs)"
        doubt = "" if self.is_decided else ": cannot be told apart"
        return f"{times} ({_short(self.low)} … {_short(self.high)}){doubt}"


def paired_ratio(first: Mapping[int, float], second: Mapping[int, float]) -> Ratio | None:
    """second / first, seed by seed; None: no seed has both."""
    logs = [log(second[seed] / first[seed]) for seed in first if seed in second and first[seed] > 0 < second[seed]]
    if not logs:
        return None
    middle = mean(logs)
    if len(logs) < SEEDS_FOR_A_VERDICT:
        return Ratio(exp(middle), len(logs))
    half = float(student.ppf((1 + _COVERS) / 2, len(logs) - 1)) * stdev(logs) / len(logs) ** 0.5
    return Ratio(exp(middle), len(logs), exp(middle - half), exp(middle + half))


def _short(value: float) -> str:
    return f"{value:.3g}"
