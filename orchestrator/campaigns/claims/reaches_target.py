"""The part that most claims begin with: every run reaches the target. It can only spoil.

The share of the seeds with which all runs do has an exact interval. A miss that was seen is a miss: one is enough to
spoil, for the share is then surely below 1. That none was seen does not say that there is none, as the interval shows.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from orchestrator.campaigns.claims.base_experiment import TARGET
from orchestrator.campaigns.claims.pairs import diverged
from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.claims.verdict import Question, Test, counted
from orchestrator.number_words import count
from orchestrator.results.paired import share_interval

REACHES = "reaches the target"


def reach(runs: Mapping[str, Sequence[RunCurve]], place: str, reading: str = "") -> Question:
    """By seed, over all values; who diverges is named."""
    hits = [(course.seed, course.hit(TARGET) is not None) for courses in runs.values() for course in courses]
    passed, seeds = sum(hit for _, hit in hits), {seed for seed, _ in hits}
    through = len(seeds) - len({seed for seed, hit in hits if not hit})
    said = "; ".join(_said(words, courses) for words, courses in runs.items())
    evidence = f"{passed} of {len(hits)} runs; with {through} of {count(len(seeds), 'seed')} all of them. {said}"
    verdict = counted(passed, len(hits))
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
