"""The claims against other algorithms: the fewest rounds, and half the volume; all tuned alike by `pame compare`."""

from collections.abc import Iterator

from orchestrator.claims.charts import contest
from orchestrator.claims.claim import Claim, Found, OfComparison
from orchestrator.compare.grid import View, views
from orchestrator.compare.outcome import Outcome
from orchestrator.compare.verdict import BYTES, ROUNDS, Goal, Measure, goals, lines
from orchestrator.studies.spread import Spread
from orchestrator.studies.verdict import Finding

_SUBJECT = "pame"
_HALF = 0.5


def judge_rounds(found: Found) -> list[Finding]:
    """In each view and to each target: PaME against everybody."""
    if found.compared is None:
        return []
    return [finding for view, goal in _contests(found.compared) for finding in _fewest(found.compared, view, goal)]


def judge_volume(found: Found) -> list[Finding]:
    """In each view, to each target and against each of the others."""
    if found.compared is None:
        return []
    return [finding for view, goal in _contests(found.compared) for finding in _half(found.compared, view, goal)]


def _contests(outcome: Outcome) -> Iterator[tuple[View, Goal]]:
    """The fixed targets; the stop rule is none, and an accuracy moves with who takes part."""
    for view in views(outcome.comparison):
        for goal in goals(outcome):
            if goal.is_contest and goal.key in {f"{target:g}" for target in outcome.comparison.targets}:
                yield view, goal


def _fewest(outcome: Outcome, view: View, goal: Goal) -> Iterator[Finding]:
    ours, others = _took(outcome, view, goal, ROUNDS)
    best = min(others, key=lambda name: others[name].median, default=None)
    if ours is None or best is None or (ours.is_missed and others[best].is_missed):
        return
    evidence = f"PaME {_show(ours, ROUNDS)}; of the others {best} {_show(others[best], ROUNDS)}"
    yield Finding(f"{view.value}, to {goal.words}", ours.median <= others[best].median, evidence)


def _half(outcome: Outcome, view: View, goal: Goal) -> Iterator[Finding]:
    ours, others = _took(outcome, view, goal, BYTES)
    for name, theirs in others.items():
        if ours is None or (ours.is_missed and theirs.is_missed):
            continue
        passed = not ours.is_missed and ours.median <= _HALF * theirs.median
        evidence = f"PaME {_show(ours, BYTES)}; {name} {_show(theirs, BYTES)}"
        yield Finding(f"{view.value}, to {goal.words}, against {name}", passed, evidence)


def _took(outcome: Outcome, view: View, goal: Goal, measure: Measure) -> tuple[Spread | None, dict[str, Spread]]:
    others = [line for line in lines(outcome, view, goal) if not line.is_baseline]
    took = {line.algorithm: line.took[measure.key] for line in others}
    took = {name: found for name, found in took.items() if name not in outcome.comparison.printed}
    return took.get(_SUBJECT), {name: found for name, found in took.items() if found is not None and name != _SUBJECT}


def _show(found: Spread, measure: Measure) -> str:
    return "missed" if found.is_missed else f"{measure.show(float(f'{found.median:.3g}'))} {_unit(measure)}".strip()


def _unit(measure: Measure) -> str:
    return "rounds" if measure is ROUNDS else ""


_REMARK = (
    "All algorithms have the same number of tuning runs, on a seed apart, and are then compared on fresh ones; once as "
    "published, once with the same periods and participation for all. A target that nobody but one reaches is that "
    "one's; where both miss it, nothing is said."
)

FEWEST_ROUNDS = Claim(
    key="fewest-rounds",
    title="Fewest rounds",
    statement="PaME needs the fewest communication rounds of the algorithms that it is compared with: D-PSGD, DFedSAM, "
    "BEER and ANQ-NIDS.",
    criterion="to each target of relative suboptimality (0.2, 0.1, 0.05), as published and standardized, no other "
    "algorithm takes fewer rounds (medians over seeds)",
    source=OfComparison(),
    judge=judge_rounds,
    figure=contest(ROUNDS),
    remark=_REMARK,
)
HALF_VOLUME = Claim(
    key="half-volume",
    title="Half the volume",
    statement="PaME transmits half of what the others do, or less, to reach the same accuracy.",
    criterion="to each target of relative suboptimality (0.2, 0.1, 0.05), as published and standardized, and against "
    "each of the others: PaME's bytes are at most half of theirs (medians over seeds)",
    source=OfComparison(),
    judge=judge_volume,
    figure=contest(BYTES),
    remark=_REMARK,
)
