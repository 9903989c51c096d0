"""The charts of a comparison: suboptimality, f and accuracy against rounds, bytes, iterations and seconds."""

from collections.abc import Callable, Sequence
from operator import attrgetter

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.compare.grid import CompareView, contestants, views
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow
from orchestrator.campaigns.compare.tune import score
from orchestrator.campaigns.compare.verdict import BYTES, ITERATIONS, ROUNDS, SECONDS, CompareOutcome, Measure
from orchestrator.number_words import byte_unit
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.vega import Axis, Legend, curve, series_color, suits_log
from orchestrator.report.vega import Row as Dot
from pame.baselines import Baseline

Pair = tuple[float, float]
_COLOURS = 8
_NOTE = "A line per algorithm: its median seed. What exchanges nothing is level: that is the best it comes to."
WHOSE = {"nodes": "the nodes' own models", "mean": "the mean model", "worst": "the worst node's own model"}
Figure = Callable[[CompareMark], float | None]
_POINTS = 200
_PLACES = {ROUNDS: "Communication rounds", BYTES: "Bytes", SECONDS: "Seconds", ITERATIONS: "Iterations"}


def x_switch(outcome: CompareOutcome) -> Switch:
    """The buttons that choose the horizontal axis of all curves."""
    return Switch("x", "Horizontal axis", {measure.key: _PLACES[measure] for measure in _axes(outcome)})


def legend(outcome: CompareOutcome) -> Legend:
    names = names_of(outcome)
    return Legend("algorithm", names, ordered=len(names) > _COLOURS)


def curves(outcome: CompareOutcome) -> list[Chart]:
    """For each view: the accuracy, if there is one; what is left, or f itself; of those targets are about, then of
    whom else."""
    figures = []
    for view in views(outcome.comparison):
        runs = median_runs(outcome, view)
        for key, title, axis, of in _shown(outcome):
            if any(of(mark) is not None for run in runs for mark in run.marks):
                figures.append(_figure(outcome, runs, f"{key}-{view.key}", f"{title}, {view.value}", axis, of))
    return figures


def _shown(outcome: CompareOutcome) -> list[tuple[str, str, str, Figure]]:
    """Key, title, axis, and the figure of a mark."""
    whose, others = outcome.comparison.of, [key for key in WHOSE if key != outcome.comparison.of]
    accuracy, left = "Test accuracy", "(f - f*) / (f(0) - f*), f of"
    found: list[tuple[str, str, str, Figure]] = [("accuracy", accuracy, accuracy, attrgetter("accuracy"))]
    if outcome.knows_optimum:
        found.append(("left", "Relative suboptimality", f"{left} {WHOSE[whose]}", attrgetter("left")))
        return found + [(f"left-{k}", f"Of {WHOSE[k]}", f"{left} {WHOSE[k]}", attrgetter(k)) for k in others]
    found += [(f"accuracy-{k}", f"Accuracy of {WHOSE[k]}", accuracy, attrgetter(f"{k}_accuracy")) for k in others]
    return [*found, ("objective", "Objective", f"f of {WHOSE[whose]}", attrgetter("looked_at"))]


def median_runs(outcome: CompareOutcome, view: CompareView) -> list[CompareRow]:
    """Of each algorithm the run with the median seed, in the order in which tuning ranks runs; then the baselines'."""
    groups = [outcome.of(view, algorithm) for algorithm in contestants(outcome.comparison, view)]
    if not any(groups):
        return []
    groups += [outcome.of_baseline(kind) for kind in Baseline]
    found = []
    for group in groups:
        rows = sorted(group, key=lambda row: score(row, outcome.comparison.targets))
        found += rows[(len(rows) - 1) // 2 :][:1]
    return found


def names_of(outcome: CompareOutcome) -> list[str]:
    return [*map(algorithm_name, outcome.comparison.entries), *(kind.value for kind in Baseline)]


def _figure(outcome: CompareOutcome, runs: Sequence[CompareRow], key: str, title: str, axis: str, of: Figure) -> Chart:
    color = series_color(legend(outcome))
    unit, size = byte_unit(max(mark.bytes for run in runs for mark in run.marks))
    specs, data = {}, {}
    log = key.startswith("left")
    for measure in _axes(outcome):
        scale = size if measure is BYTES else 1
        words = f"Sent by all nodes ({unit})" if measure is BYTES else _PLACES[measure]
        rows = [row for run in runs for row in _rows(runs, run, measure, of, scale)]
        rows = [row for row in rows if row["y"] > 0] if log else rows
        name = f"{key}-{measure.key}"
        data[name] = rows
        logarithmic = log and suits_log([row["y"] for row in rows])
        specs[measure.key] = curve(name, Axis("x", words), Axis("y", axis, logarithmic), color=color)
    return Chart(key, title, _NOTE, specs, data, ("x",))


def _rows(runs: Sequence[CompareRow], run: CompareRow, measure: Measure, of: Figure, scale: int) -> list[Dot]:
    pairs = pairs_of(runs, measure, run, of)
    return [
        {"x": float(f"{x / scale:.5g}"), "y": float(f"{y:.5g}"), "group": algorithm_name(run.cell.algorithm)}
        for x, y in pairs[:: max(1, -(-len(pairs) // _POINTS))]
    ]


def flat(runs: Sequence[CompareRow], measure: Measure, run: CompareRow, of: Figure) -> list[Pair]:
    """What exchanges nothing has no rounds, bytes or seconds: a line at its best, as long as the others'."""
    others = [x for other in runs if not other.cell.is_baseline for mark in other.marks if (x := measure.of(mark))]
    best = sorted(run.marks, key=lambda mark: -(mark.accuracy or 0.0) if mark.left is None else mark.left)[:1]
    ends = [y for mark in best if (y := of(mark)) is not None]
    return [(x, y) for y in ends for x in (min(others), max(others))] if others else []


def pairs_of(runs: Sequence[CompareRow], measure: Measure, run: CompareRow, of: Figure) -> list[Pair]:
    if run.cell.is_baseline and measure is not ITERATIONS:
        return flat(runs, measure, run, of)
    both = ((measure.of(mark), of(mark)) for mark in run.marks)
    return [(x, y) for x, y in both if x is not None and y is not None]


def _axes(outcome: CompareOutcome) -> list[Measure]:
    timed = any(mark.seconds is not None for row in outcome.rows for mark in row.marks)
    return [measure for measure in _PLACES if timed or not measure.is_time]
