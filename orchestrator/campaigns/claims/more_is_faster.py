"""Claims of one form: the more of something, the fewer iterations and the better the end; and the gain shrinks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import fmean

from orchestrator.campaigns.claims.base_experiment import (
    EVERY,
    FITTED,
    LAST,
    LINEAR,
    TARGET,
    ClaimCondition,
    conditions,
)
from orchestrator.campaigns.claims.charts import lines
from orchestrator.campaigns.claims.claim import Claim, ClaimExperiments, ClaimRun, ClaimsMode, Found
from orchestrator.campaigns.claims.parts import at_end, diverged, ratio_test, reach, to_target
from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.verdicts import MARGIN, Question, Test, Verdict, at_most, positive, smaller
from orchestrator.number_words import percent
from orchestrator.results.paired import paired_interval
from orchestrator.results.spread import spread_of_hits

FASTER, MORE_ACCURATE, EACH_STEP, SHRINKS = "faster", "more accurate", "no step up is slower", "the gain shrinks"
_CRITERION = (
    f"decides: from the lowest to the highest value, fewer iterations to the target ({percent(TARGET)} of the way "
    f"left) and less left after {LAST} iterations, each beyond the spread of the seeds. Can only spoil: every run "
    f"reaches the target; no step up is slower (by more than {percent(MARGIN)}); the first step up saves more "
    "iterations than the last. Values that diverge are named, and the effect is that between the values that do not"
)
_INSTEAD = (
    "Tested on linear regression of our own make, by speed and by the final objective, because the paper speaks of "
    f"both; under both readings of the step. {FITTED}"
)


@dataclass(frozen=True)
class AscendingValues:
    symbol: str
    setting: str
    """With {} for the value, as after `--set`; empty if the value is the share of neighbours."""
    values: tuple[float, ...]

    def runs(self, mode: ClaimsMode) -> tuple[ClaimRun, ...]:
        return tuple(self.run(condition, value) for condition in conditions(mode) for value in self.values)

    def run(self, condition: ClaimCondition, value: float) -> ClaimRun:
        key, words = f"{value:g}", self.words(value)
        if not self.setting:
            return condition.run(key, words, (), value)
        return condition.run(key, words, (self.setting.format(f"{value:g}"),))

    def words(self, value: float) -> str:
        return f"{self.symbol} = {value:g}"

    def ask(self, found: Found) -> list[Question]:
        """All parts under every condition of which something was run."""
        asked: list[Question] = []
        for condition in conditions(ClaimsMode.FULL):
            rungs = [ValueRuns(self.words(v), tuple(found.of(self.run(condition, v).key))) for v in self.values]
            asked += _on(condition, [rung for rung in rungs if rung.courses])
        return asked


LADDERS = {
    "transmission-rate": AscendingValues("s/n", "algorithm.support={}", (0.1, 0.2, 0.4, 0.6)),
    "participation-rate": AscendingValues("nu", "algorithm.participation={}", (0.1, 0.2, 0.6, 1.0)),
    "connectivity": AscendingValues("neighbours / others", "", (0.15, 0.3, 0.5, 0.8)),
}


@dataclass(frozen=True)
class ValueRuns:
    words: str
    courses: tuple[RunCurve, ...]

    @property
    def diverges(self) -> bool:
        return diverged(self.courses) > 0

    @property
    def iterations(self) -> str:
        """To the target, in words."""
        hits = [course.hit(TARGET) for course in self.courses]
        took = spread_of_hits([None if hit is None else hit.iteration for hit in hits])
        return "missed" if took is None or took.is_missed else f"{took.median:g}"


def more_is_faster(key: str, title: str, statement: str) -> Claim:
    """The claim that more of it needs fewer iterations."""
    ladder = LADDERS[key]
    source, figure = ClaimExperiments(LINEAR, ladder.runs), lines(ladder.runs(ClaimsMode.FULL))
    return Claim(key, title, statement, _CRITERION, source, ladder.ask, figure, instead=_INSTEAD)


def _on(condition: ClaimCondition, rungs: Sequence[ValueRuns]) -> Iterator[Question]:
    if not rungs:
        return
    place, reading = condition.place, condition.reading
    yield reach({rung.words: rung.courses for rung in rungs}, place, reading)
    steady = [rung for rung in rungs if not rung.diverges]
    seeds = min(len(rung.courses) for rung in rungs)
    if len(steady) < 2:
        words = "nothing to compare: " + "; ".join(f"{rung.words} diverges" for rung in rungs if rung.diverges)
        for part in (FASTER, MORE_ACCURATE):
            verdict = Verdict.FAILS if len(steady) < len(rungs) else Verdict.OPEN
            yield Question(part, place, reading, words, verdict, seeds, diverges=len(steady) < len(rungs))
        return
    low, high = steady[0], steady[-1]
    took = to_target(high.courses, low.courses)
    words = f"{low.words}: {low.iterations} iterations; {high.words}: {high.iterations}"
    yield Question(FASTER, place, reading, words, ratio_test(took, smaller, EVERY), took.seeds)
    ends = at_end(high.courses, low.courses)
    words = f"{low.words}: {_left(low)} left; {high.words}: {_left(high)}"
    yield Question(MORE_ACCURATE, place, reading, words, ratio_test(ends, smaller), ends.seeds)
    yield from _each_step(condition, steady)
    yield from _shrinking(condition, steady)


def _each_step(condition: ClaimCondition, rungs: Sequence[ValueRuns]) -> Iterator[Question]:
    """The step up that loses most."""
    steps = [to_target(up.courses, down.courses) for down, up in pairwise(rungs)]
    known = [step for step in steps if step.values]
    if not known:
        return
    worst = max(known, key=lambda step: fmean(one / other for one, other in step.values))
    words = " → ".join(rung.iterations for rung in rungs) + " iterations; the step up that loses most"
    test = ratio_test(worst, at_most(1.0 + MARGIN), EVERY)
    yield Question(EACH_STEP, condition.place, condition.reading, words, test, worst.seeds, decides=False)


def _shrinking(condition: ClaimCondition, rungs: Sequence[ValueRuns]) -> Iterator[Question]:
    """What the first step up saves, less what the last saves; a loss at the last is no smaller gain."""
    place, reading = condition.place, condition.reading
    if len(rungs) < 3:
        words = "nothing to compare: fewer than three values that do not diverge"
        yield Question(SHRINKS, place, reading, words, Verdict.OPEN, len(rungs[0].courses), decides=False)
        return
    hits = [_by_seed(rung.courses) for rung in (rungs[0], rungs[1], rungs[-2], rungs[-1])]
    seeds = [seed for seed in hits[0] if all(seed in hit for hit in hits)]
    saved = [(hits[0][seed] - hits[1][seed], hits[2][seed] - hits[3][seed]) for seed in seeds]
    if not saved:
        return
    gains = [first - max(last, 0) for first, last in saved]
    estimate = partial(paired_interval, gains, rounding=4 * EVERY**2 / 12)
    first, last = (fmean(part) for part in zip(*saved, strict=True))
    words = f"the first step up saves {first:.3g} iterations, the last {last:.3g}"
    test = Test(estimate, positive(MARGIN * fmean(hits[0].values())), "iterations more")
    yield Question(SHRINKS, place, reading, words, test, len(rungs[0].courses), decides=False)


def _by_seed(courses: Sequence[RunCurve]) -> dict[int, int]:
    """Iterations to the target, where it was reached."""
    return {course.seed: hit.iteration for course in courses if (hit := course.hit(TARGET)) is not None}


def _left(rung: ValueRuns) -> str:
    ends = [course.end for course in rung.courses if course.end is not None]
    return percent(fmean(ends)) if ends else "nothing known"


TRANSMISSION = more_is_faster(
    "transmission-rate",
    "Transmission rate",
    "PaME converges at every transmission rate s/n from 0.1 to 0.6. Revealing more of a model needs fewer iterations "
    "and ends nearer, and from a small rate on hardly so.",
)
PARTICIPATION = more_is_faster(
    "participation-rate",
    "Participation rate",
    "PaME converges at every participation rate nu. Averaging more of the neighbours needs fewer iterations and ends "
    "nearer, and from a small share on hardly so.",
)
CONNECTIVITY = more_is_faster(
    "connectivity",
    "Connectivity",
    "PaME converges on sparse and on dense graphs. A graph with more edges needs fewer iterations and ends nearer, and "
    "from a sparse one on hardly so.",
)
