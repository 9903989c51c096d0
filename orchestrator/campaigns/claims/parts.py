"""What the parts of claims are made of: two runs seed by seed, and that every run reaches the target.

A run that misses the target took more than all it had: it counts with its last point, and at least with what the other
took, so that a miss is never a gain; the effect is then a bound, and its interval has no end on that side. Where both
miss, the pair says nothing.

That every run reaches the target can only spoil. The share of the seeds with which all runs do has an exact interval.
A miss that was seen is a miss: one is enough to spoil, for the share is then surely below 1. That none was seen does
not say that there is none, as the interval shows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median

from orchestrator.campaigns.claims.base_experiment import TARGET
from orchestrator.campaigns.claims.run_curve import CurveMark, RunCurve
from orchestrator.campaigns.verdicts import Question, Rule, Test, Verdict
from orchestrator.number_words import count
from orchestrator.results import Status
from orchestrator.results.paired import CensoredPairs, Interval, Taken, censored, censored_ratio, share_interval

REACHES = "reaches the target"
_LOWEST = 1e-12
"""Below this, what is left of the way is rounding."""


def ratio_test(pairs: CensoredPairs, rule: Rule, grid: float = 0.0, read: CensoredPairs | None = None) -> Test:
    """The ratio of the first to the second, by a rule; `grid`: how far apart the values are that can be `read`, which
    may be others than those that are compared."""

    def estimate(confidence: float) -> Interval | None:
        if not pairs.values:
            return None
        values = (read or pairs).values
        rounding = fmean((grid / one) ** 2 / 12 + (grid / other) ** 2 / 12 for one, other in values)
        return censored_ratio(pairs, confidence, rounding)

    return Test(estimate, rule, is_bound=any(pairs.missed))


def to_target(
    one: Sequence[RunCurve], other: Sequence[RunCurve], of: Callable[[CurveMark], float] = lambda mark: mark.iteration
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


def reach(runs: Mapping[str, Sequence[RunCurve]], place: str, reading: str = "") -> Question:
    """By seed, over all values; who diverges is named."""
    hits = [(course.seed, course.hit(TARGET) is not None) for courses in runs.values() for course in courses]
    passed, seeds = sum(hit for _, hit in hits), {seed for seed, _ in hits}
    through = len(seeds) - len({seed for seed, hit in hits if not hit})
    said = "; ".join(_said(words, courses) for words, courses in runs.items())
    evidence = f"{passed} of {len(hits)} runs; with {through} of {count(len(seeds), 'seed')} all of them. {said}"
    verdict = Verdict.HOLDS if passed == len(hits) else Verdict.PARTLY if passed else Verdict.FAILS
    test = Test(lambda level: share_interval(through, len(seeds), level), lambda _: verdict, "as share of the seeds")
    lost = any(diverged(courses) for courses in runs.values())
    fewest = min(map(len, runs.values()))
    return Question(REACHES, place, reading, evidence, test, fewest, decides=False, diverges=lost)


def _said(words: str, courses: Sequence[RunCurve]) -> str:
    if lost := diverged(courses):
        return f"{words} diverges ({lost} of {len(courses)} seeds)"
    hits = [hit.iteration for course in courses if (hit := course.hit(TARGET)) is not None]
    missed = f", missed {len(courses) - len(hits)} times" if len(hits) < len(courses) else ""
    return f"{words}: {median(hits):g} iterations{missed}" if hits else f"{words}: missed"
