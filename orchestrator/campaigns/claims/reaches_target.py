"""The part that most claims begin with: every run reaches the target. It can only spoil."""

from collections.abc import Mapping, Sequence
from statistics import median

from orchestrator.campaigns.claims.base_experiment import TARGET
from orchestrator.campaigns.claims.pairs import diverged
from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.claims.verdict import Question, counted

REACHES = "reaches the target"


def reach(runs: Mapping[str, Sequence[RunCurve]], place: str, reading: str = "") -> Question:
    """Counted over all values and seeds; who diverges is named."""
    hits = {words: [course.hit(TARGET) for course in courses] for words, courses in runs.items()}
    passed = sum(hit is not None for found in hits.values() for hit in found)
    total = sum(map(len, hits.values()))
    said = [_said(words, runs[words]) for words in runs]
    evidence = f"{passed} of {total} runs. " + "; ".join(said)
    seeds = min(map(len, runs.values()))
    lost = any(diverged(courses) for courses in runs.values())
    return Question(REACHES, place, reading, evidence, counted(passed, total), seeds, decides=False, diverges=lost)


def _said(words: str, courses: Sequence[RunCurve]) -> str:
    if lost := diverged(courses):
        return f"{words} diverges ({lost} of {len(courses)} seeds)"
    hits = [hit.iteration for course in courses if (hit := course.hit(TARGET)) is not None]
    missed = f", missed {len(courses) - len(hits)} times" if len(hits) < len(courses) else ""
    return f"{words}: {median(hits):g} iterations{missed}" if hits else f"{words}: missed"
