"""The charts of a comparison: suboptimality and accuracy against rounds, bytes, iterations and seconds."""

from collections.abc import Callable, Sequence

from orchestrator.compare.grid import View
from orchestrator.compare.measure import Mark, Row, of_cell
from orchestrator.compare.outcome import Outcome
from orchestrator.compare.tune import score
from orchestrator.compare.verdict import BYTES, ITERATIONS, ROUNDS, SECONDS, Measure
from orchestrator.report.figure import Figure, Switch
from orchestrator.report.marks import Axis, Legend, curve, series_color, suits_log
from orchestrator.report.marks import Row as Dot
from orchestrator.report.text import byte_unit

_COLOURS = 8
_POINTS = 200
_PLACES = {ROUNDS: "Communication rounds", BYTES: "Bytes", SECONDS: "Seconds", ITERATIONS: "Iterations"}


def x_switch(outcome: Outcome) -> Switch:
    """The buttons that choose the horizontal axis of all curves."""
    return Switch("x", "Horizontal axis", {measure.key: _PLACES[measure] for measure in _axes(outcome)})


def legend(outcome: Outcome) -> Legend:
    """The algorithms, in the order of the file."""
    names = list(outcome.comparison.entries)
    return Legend("algorithm", names, ordered=len(names) > _COLOURS)


def curves(outcome: Outcome) -> list[Figure]:
    """For each view: the accuracy, if there is one, and the relative suboptimality."""
    figures = []
    for view in View:
        runs = median_runs(outcome, view)
        if not runs:
            continue
        if any(run.accuracy is not None for run in runs):
            words, name = f"Test accuracy, {view.value}", f"accuracy-{view.value}"
            figures.append(_figure(outcome, runs, name, words, "Test accuracy", lambda mark: mark.accuracy))
        words, name = f"Relative suboptimality, {view.value}", f"left-{view.value}"
        figures.append(
            _figure(outcome, runs, name, words, "(f(mean model) - f*) / (f(0) - f*)", lambda mark: mark.left)
        )
    return figures


def median_runs(outcome: Outcome, view: View) -> list[Row]:
    """Of each algorithm the run with the median seed, in the order in which tuning ranks runs."""
    targets = outcome.comparison.targets
    found = []
    for algorithm in outcome.comparison.entries:
        rows = sorted(of_cell(outcome.rows, view, algorithm), key=lambda row: score(row, targets))
        found += rows[(len(rows) - 1) // 2 :][:1]
    return found


def _figure(
    outcome: Outcome, runs: Sequence[Row], key: str, title: str, axis: str, of: Callable[[Mark], float | None]
) -> Figure:
    color = series_color(legend(outcome))
    unit, size = byte_unit(max(mark.bytes for run in runs for mark in run.marks))
    specs, data = {}, {}
    log = key.startswith("left")
    for measure in _axes(outcome):
        scale = size if measure is BYTES else 1
        words = f"Sent by all nodes ({unit})" if measure is BYTES else _PLACES[measure]
        rows = [row for run in runs for row in _rows(run, measure, of, scale)]
        rows = [row for row in rows if row["y"] > 0] if log else rows
        name = f"{key}-{measure.key}"
        data[name] = rows
        logarithmic = log and suits_log([row["y"] for row in rows])
        specs[measure.key] = curve(name, Axis("x", words), Axis("y", axis, logarithmic), color=color)
    return Figure(key, title, "A line per algorithm: its median seed.", specs, data, ("x",))


def _rows(run: Row, measure: Measure, of: Callable[[Mark], float | None], scale: int) -> list[Dot]:
    marks = run.marks[:: max(1, -(-len(run.marks) // _POINTS))]
    both = [(measure.of(mark), of(mark)) for mark in marks]
    return [
        {"x": float(f"{x / scale:.5g}"), "y": float(f"{y:.5g}"), "group": run.cell.algorithm}
        for x, y in both
        if x is not None and y is not None
    ]


def _axes(outcome: Outcome) -> list[Measure]:
    timed = any(mark.seconds is not None for row in outcome.rows for mark in row.marks)
    return [measure for measure in _PLACES if timed or not measure.is_time]
