"""The claim about communication periods: longer ones for all nodes, and a different one for each."""

from collections.abc import Iterator, Sequence

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
from orchestrator.campaigns.verdicts import Question, Verdict, at_most, larger, smaller
from orchestrator.number_words import percent
from orchestrator.results.paired import CensoredPairs

FEWER_ROUNDS, SLOWER, SLIGHTLY, NEAR = "fewer rounds", "different periods are slower", "but slightly", "ends as near"
_SAME = (1, 2, 5, 10)
_MEAN = 5
_DIFFERENT = ("3..7", "1..9")
_SLIGHTLY = 1.25
_TIMES = 2.0


def same(condition: ClaimCondition, period: int) -> ClaimRun:
    return condition.run(f"all-{period}", f"period {period} for all", (f"period={period}",))


def different(condition: ClaimCondition, span: str) -> ClaimRun:
    """Every node has its own, drawn once."""
    return condition.run(f"each-{span}", f"periods {span}, drawn per node", (f"period={span}",))


def _runs_on(condition: ClaimCondition) -> tuple[ClaimRun, ...]:
    return (*(same(condition, period) for period in _SAME), *(different(condition, span) for span in _DIFFERENT))


def _runs(mode: ClaimsMode) -> tuple[ClaimRun, ...]:
    return tuple(run for condition in conditions(mode) for run in _runs_on(condition))


def _on(condition: ClaimCondition, found: Found) -> Iterator[Question]:
    known = {run.words: found.of(run.key) for run in _runs_on(condition)}
    known = {words: courses for words, courses in known.items() if courses}
    if not known:
        return
    yield reach(known, condition.place, condition.reading)
    equal = {period: found.of(same(condition, period).key) for period in _SAME}
    yield from _longer(condition, {period: courses for period, courses in equal.items() if courses})
    for span in _DIFFERENT:
        yield from _drawn(condition, span, found.of(different(condition, span).key), equal[_MEAN])


def _longer(condition: ClaimCondition, equal: dict[int, list[RunCurve]]) -> Iterator[Question]:
    """The longest period against the shortest, of those with which nothing diverges."""
    if len(equal) < 2:
        return
    place, reading = condition.place, condition.reading
    steady = [period for period, courses in equal.items() if not diverged(courses)]
    if len(steady) < 2:
        words = "nothing to compare: all periods but one at most diverge"
        seeds = min(map(len, equal.values()))
        yield Question(FEWER_ROUNDS, place, reading, words, Verdict.FAILS, seeds, diverges=True)
        return
    short, long = steady[0], steady[-1]
    rounds = to_target(equal[long], equal[short], lambda mark: mark.rounds)
    words = f"period {short}: {rounds.words(1)} rounds; period {long}: {rounds.words(0)}"
    yield Question(FEWER_ROUNDS, place, reading, words, ratio_test(rounds, smaller, EVERY), rounds.seeds)
    yield _as_near("longer periods", condition, at_end(equal[long], equal[short]))


def _drawn(
    condition: ClaimCondition, span: str, each: Sequence[RunCurve], equal: Sequence[RunCurve]
) -> Iterator[Question]:
    """Different periods against their mean for all."""
    if not each or not equal:
        return
    place, reading = f"{span} against {_MEAN} for all, {condition.place}", condition.reading
    if diverged(each) or diverged(equal):
        words = (
            f"diverges: {span} in {diverged(each)} of {len(each)}, {_MEAN} for all in {diverged(equal)} of {len(equal)}"
        )
        verdict = Verdict.FAILS if diverged(each) else Verdict.OPEN  # else there is nothing to compare with
        yield Question(SLOWER, place, reading, words, verdict, min(len(each), len(equal)), diverges=True)
        return
    took = to_target(each, equal)
    words = f"{took.words(0)} iterations; {_MEAN} for all: {took.words(1)}"
    yield Question(SLOWER, place, reading, words, ratio_test(took, larger, EVERY), took.seeds)
    slightly = ratio_test(took, at_most(_SLIGHTLY), EVERY)
    yield Question(SLIGHTLY, place, reading, words, slightly, took.seeds, decides=False)
    yield _as_near(f"periods {span}", condition, at_end(each, equal))


def _as_near(who: str, condition: ClaimCondition, ends: CensoredPairs) -> Question:
    words = f"{ends.words(0, 100)} % left; against {ends.words(1, 100)} %"
    test, place = ratio_test(ends, at_most(_TIMES)), condition.place
    return Question(f"{NEAR}, {who}", place, condition.reading, words, test, ends.seeds, decides=False)


PERIOD = Claim(
    key="communication-period",
    title="Communication period",
    statement="Nodes need not communicate at every iteration: PaME converges with long periods, a longer one takes "
    "fewer communication rounds, and every node may have a period of its own: different periods are slightly slower.",
    criterion=f"decides: period {_SAME[-1]} takes fewer rounds to the target ({percent(TARGET)} of the way left) than "
    f"period {_SAME[0]}; periods drawn per node take more iterations than their mean, {_MEAN}, for all; each beyond "
    f"the spread of the seeds. Can only spoil: every run reaches the target; different periods take at most "
    f"{_SLIGHTLY:g} times the iterations (slightly); what is left after {LAST} iterations is at most {_TIMES:g} times "
    "as much",
    source=ClaimExperiments(LINEAR, _runs),
    ask=lambda found: [asked for condition in conditions(ClaimsMode.FULL) for asked in _on(condition, found)],
    figure=lines(_runs(ClaimsMode.FULL)),
    known='Known of its text: "different periods are slightly slower"; which section is not.',
    instead="Tested by rounds, iterations and the final objective. How slow is `slightly`, the paper leaves open: we "
    f"say at most a quarter more. {FITTED}",
)
