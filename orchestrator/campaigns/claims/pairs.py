"""Two runs of a claim, seed by seed: what each took to the target, and where each ended.

A run that misses the target took more than all it had: it counts with its last point, and at least with what the other
took, so that a miss is never a gain; the effect is then a bound, and its interval has no end on that side. Where both
miss, the pair says nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from orchestrator.campaigns.claims.base_experiment import TARGET
from orchestrator.campaigns.claims.run_curve import CurveMark, RunCurve
from orchestrator.campaigns.claims.verdict import Rule, Test
from orchestrator.results import Status
from orchestrator.results.paired import CensoredPairs, Interval, Taken, censored, censored_ratio

_LOWEST = 1e-12
"""Below this, what is left of the way is rounding."""


def ratio_test(pairs: CensoredPairs, rule: Rule, grid: float = 0.0) -> Test:
    """The ratio of the first to the second, by a rule; `grid`: how far apart the values are that can be read."""

    def estimate(confidence: float) -> Interval | None:
        if not pairs.values:
            return None
        rounding = fmean((grid / one) ** 2 / 12 + (grid / other) ** 2 / 12 for one, other in pairs.values)
        return censored_ratio(pairs, confidence, rounding)

    return Test(estimate, rule, is_bound=any(pairs.missed))


def to_target(
    one: Sequence[RunCurve],
    other: Sequence[RunCurve],
    of: Callable[[CurveMark], float] = lambda mark: mark.iteration,
) -> CensoredPairs:
    """What it took them to the target: iterations, or something else."""
    return censored([(_taken(a, of), _taken(b, of)) for a, b in _both(one, other)])


def at_end(one: Sequence[RunCurve], other: Sequence[RunCurve]) -> CensoredPairs:
    """The share of the way that they left; a run that diverged has no end."""
    both = _both(one, other)
    ends = [(a.end, b.end) for a, b in both]
    values = tuple((max(x, _LOWEST), max(y, _LOWEST)) for x, y in ends if x is not None and y is not None)
    return CensoredPairs(values, len(both))


def diverged(courses: Iterable[RunCurve]) -> int:
    return sum(course.status == Status.DIVERGED.value for course in courses)


def _both(one: Sequence[RunCurve], other: Sequence[RunCurve]) -> list[tuple[RunCurve, RunCurve]]:
    theirs = {course.seed: course for course in other}
    return [(course, theirs[course.seed]) for course in one if course.seed in theirs]


def _taken(run: RunCurve, of: Callable[[CurveMark], float]) -> Taken:
    hit, spent = run.hit(TARGET), of(run.marks[-1]) if run.marks else 0.0
    return Taken(None if hit is None else of(hit), spent, run.status == Status.DIVERGED.value)
