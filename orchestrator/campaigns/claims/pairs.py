"""Two runs of a claim, seed by seed: what each took to the target, and where each ended.

A run that misses the target took more than all it had: it counts with its last point, and at least with what the other
took, so that a miss is never a gain; the effect is then a bound, and its interval has no end on that side. Where both
miss, the pair says nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from orchestrator.campaigns.claims.run_curve import CurveMark, RunCurve
from orchestrator.campaigns.claims.verdict import Rule, Test
from orchestrator.results import Status
from orchestrator.results.paired import CensoredPairs, Interval, censored, censored_ratio

_LOWEST = 1e-12
"""Below this, what is left of the way is rounding."""


@dataclass(frozen=True)
class Pairs:
    """A figure of two runs, for the seeds of which both are known."""

    values: tuple[tuple[float, float], ...]
    seeds: int
    missed: tuple[int, int] = (0, 0)
    """How often the first missed where the second did not, and the other way round."""

    def middle(self, side: int) -> float:
        """The median of the first (0) or the second (1)."""
        return median(pair[side] for pair in self.values)

    def words(self, side: int, times: float = 1.0) -> str:
        """The same, in words."""
        return f"{times * self.middle(side):.3g}" if self.values else "missed"

    def test(self, rule: Rule, grid: float = 0.0) -> Test:
        """The ratio of the first to the second, by a rule; `grid`: how far apart the values are that can be read."""

        def estimate(confidence: float) -> Interval | None:
            if not self.values:
                return None
            rounding = fmean((grid / one) ** 2 / 12 + (grid / other) ** 2 / 12 for one, other in self.values)
            return censored_ratio(CensoredPairs(self.values, self.missed), confidence, rounding)

        return Test(estimate, rule, is_bound=any(self.missed))


def to_target(
    one: Sequence[RunCurve], other: Sequence[RunCurve], target: float, of: Callable[[CurveMark], float]
) -> Pairs:
    """What it took them to the target."""
    both = _both(one, other)
    hits = [(_at(a.hit(target), of), _at(b.hit(target), of)) for a, b in both]
    return of_hits(hits, [(_last(a, b, of), _last(b, a, of)) for a, b in both])


def of_hits(took: Sequence[tuple[float | None, float | None]], spent: Sequence[tuple[float, float]]) -> Pairs:
    """From what both took, None for a miss, and all that each spent."""
    found = censored(took, spent)
    return Pairs(found.values, len(took), found.missed)


def at_end(one: Sequence[RunCurve], other: Sequence[RunCurve]) -> Pairs:
    """The share of the way that they left; a run that diverged has no end."""
    both = _both(one, other)
    ends = [(a.end, b.end) for a, b in both]
    values = tuple((max(x, _LOWEST), max(y, _LOWEST)) for x, y in ends if x is not None and y is not None)
    return Pairs(values, len(both))


def diverged(courses: Iterable[RunCurve]) -> int:
    """How many of the runs diverged."""
    return sum(course.status == Status.DIVERGED.value for course in courses)


def _both(one: Sequence[RunCurve], other: Sequence[RunCurve]) -> list[tuple[RunCurve, RunCurve]]:
    theirs = {course.seed: course for course in other}
    return [(course, theirs[course.seed]) for course in one if course.seed in theirs]


def _at(hit: CurveMark | None, of: Callable[[CurveMark], float]) -> float | None:
    return None if hit is None else of(hit)


def _last(run: RunCurve, partner: RunCurve, of: Callable[[CurveMark], float]) -> float:
    """A run that diverged would never get there: it counts as long as its partner."""
    ends = [run, partner] if run.status == Status.DIVERGED.value else [run]
    return max((of(course.marks[-1]) for course in ends if course.marks), default=0.0)
