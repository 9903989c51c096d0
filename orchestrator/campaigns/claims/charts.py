"""The charts of claims: curves of all runs, outcomes by condition, algorithms side by side."""

from collections.abc import Callable, Sequence
from functools import partial

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.claims.claim import ClaimRun, Found
from orchestrator.campaigns.claims.run_curve import CurveMark, RunCurve
from orchestrator.campaigns.compare.grid import views
from orchestrator.campaigns.compare.verdict import BYTES, Measure
from orchestrator.campaigns.report_parts import dot, dot_chart
from orchestrator.campaigns.studies.charts import TO_TARGET, dots_of
from orchestrator.campaigns.studies.grid import READINGS, WAITING_FOR_ALL
from orchestrator.campaigns.studies.measure import Rows
from orchestrator.number_words import byte_unit
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.vega import Axis, Categories, Legend, curve, series_color, suits_log
from orchestrator.report.vega import Row as Dot

Draw = Callable[[str, Found], Chart | None]
"""From the key of a claim and what was found."""
_COLOURS = 8
_POINTS = 200
_MISSES = "A median that missed the target has no dot."


def lines(runs: Sequence[ClaimRun]) -> Draw:
    """Relative suboptimality against iterations, a line per run."""
    return partial(_curves, runs, "Relative suboptimality", lambda mark: mark.left)


def error_lines(runs: Sequence[ClaimRun]) -> Draw:
    """Distance to the true model against iterations, a line per run."""
    return partial(_curves, runs, "||mean model - true model||²", lambda mark: mark.error)


def by_condition(study: str, key: str, found: Found) -> Chart | None:
    """Time to the target in every condition of a study."""
    if found.study is None or not found.rows:
        return None
    rows, conditions = Rows(found.rows), found.study.conditions
    policies = [*(reading.policy for reading in READINGS), WAITING_FOR_ALL]
    cells = [(c.short, policy, policy, c.key) for policy in policies for c in conditions]
    names = Legend("policy", policies, ordered=False)
    axis = Categories("x", "Condition", [condition.short for condition in conditions])
    note = f"Simulated seconds, medians and ranges over seeds. {_MISSES} More: pame study {study}."
    dots = {"": (TO_TARGET.axis, dots_of(rows, cells, TO_TARGET))}
    return dot_chart(key, "Time to target", note, axis, names, dots)


def contest(measure: Measure, key: str, found: Found) -> Chart | None:
    """What every algorithm took to every target, in both views."""
    outcome = found.compared.get("")
    if outcome is None or not outcome.rows:
        return None
    shown = views(outcome.comparison)
    targets = [goal for goal in outcome.goals if goal.is_contest]
    names = Legend("algorithm", list(map(algorithm_name, outcome.comparison.entries)), ordered=False)
    took = {
        view: [
            (goal.key, algorithm_name(line.algorithm), hit)
            for goal in targets
            for line in outcome.lines(view, goal)
            if not line.is_baseline and (hit := line.took[measure.key]) is not None and not hit.is_missed
        ]
        for view in shown
    }
    largest = max((hit.high for hits in took.values() for _, _, hit in hits), default=1.0)
    unit, size = byte_unit(largest) if measure is BYTES else (measure.words, 1)
    switch = Switch(f"view-{key}", "Settings", {view.key: view.value for view in shown})
    axis = Categories("x", "Target", [goal.key for goal in targets])
    words = f"{measure.words.capitalize()} to target" + (f" ({unit})" if measure is BYTES else "")
    dots = {view.key: (words, [dot(place, group, hit, size) for place, group, hit in took[view]]) for view in shown}
    note = f"Medians and ranges over seeds. {_MISSES}"
    title = f"{measure.words.capitalize()} to each target"
    return dot_chart(key, title, note, axis, names, dots, (switch.name,), switch)


_HIGHEST = 10.0
"""What is so many times farther away than at the start has left the picture: it diverges."""


def _curves(
    runs: Sequence[ClaimRun], axis: str, of: Callable[[CurveMark], float | None], key: str, found: Found
) -> Chart | None:
    known = [run for run in runs if found.of(run.key)]
    words = list(dict.fromkeys(run.words for run in known))
    groups = {run.group: f"{key}-{place}" for place, run in enumerate(known)}
    data: dict[str, list[Dot]] = {name: [] for name in groups.values()}
    for run in known:
        data[groups[run.group]] += _points(_middle(found.of(run.key)), run.words, of)
    if not any(data.values()):
        return None
    names = Legend("run", words, ordered=len(words) > _COLOURS)
    color = series_color(names)
    specs = {
        name: curve(name, Axis("x", "Iterations"), Axis("y", axis, suits_log([dot["y"] for dot in dots])), color=color)
        for name, dots in data.items()
    }
    note = "A line per run: of its seeds the one in the middle at the end. A line that ends at the top diverges."
    if len(groups) == 1:
        return Chart(key, axis, note, {"": specs[next(iter(specs))]}, data, own_legend=names, shape="wide")
    switch = Switch(f"group-{key}", "Where", {name: group for group, name in groups.items()})
    return Chart(key, axis, note, specs, data, (switch.name,), switch, names, "wide")


def _middle(courses: Sequence[RunCurve]) -> RunCurve:
    ranked = sorted(courses, key=lambda course: course.marks[-1].error if course.marks else float("inf"))
    return ranked[(len(ranked) - 1) // 2]


def _points(course: RunCurve, group: str, of: Callable[[CurveMark], float | None]) -> list[Dot]:
    marks = course.marks[:: max(1, -(-len(course.marks) // _POINTS))]
    both = [(mark.iteration, of(mark)) for mark in marks]
    highest = _HIGHEST * ((of(marks[0]) if marks else None) or 1.0)
    return [{"x": x, "y": float(f"{y:.5g}"), "group": group} for x, y in both if y is not None and 0 < y <= highest]
