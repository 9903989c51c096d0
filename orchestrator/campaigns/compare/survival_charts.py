"""The charts of a comparison with conditions: for each condition what is left and how far the nodes are apart, with the
windows of faults shaded, and broken beside each line the same algorithm and seed in the first condition.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from orchestrator.campaigns.compare.around_faults import on_axis
from orchestrator.campaigns.compare.charts import WHOSE
from orchestrator.campaigns.compare.grid import CompareView, contestants
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow
from orchestrator.campaigns.compare.survival import clock_of
from orchestrator.campaigns.compare.tune import score
from orchestrator.campaigns.compare.verdict import BYTES, ITERATIONS, SECONDS, CompareOutcome, Measure
from orchestrator.number_words import byte_unit
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.vega import Axis, Legend, Shade, Spec, curve, series_color, suits_log
from orchestrator.report.vega import Row as Dot
from orchestrator.results.window_rounds import Range

_POINTS = 150
_COLOURS = 8
_PLACES = {SECONDS: "Seconds", ITERATIONS: "Iterations", BYTES: "Bytes"}
_NONE = "none"
Drawn = Sequence[tuple[CompareRow, CompareRow | None]]
"""Of each algorithm the run with the median seed, and that in the first condition."""


def axis_switch(outcome: CompareOutcome) -> Switch:
    """Seconds first, where there are any."""
    return Switch("x", "Horizontal axis", {measure.key: _PLACES[measure] for measure in axes_of(outcome)})


def algorithms_legend(outcome: CompareOutcome) -> Legend:
    names = list(outcome.comparison.entries)
    return Legend("algorithm", names, ordered=len(names) > _COLOURS)


def condition_curves(outcome: CompareOutcome, view: CompareView) -> list[Chart]:
    """Two for each condition that ran."""
    figures = []
    for condition in outcome.comparison.conditions:
        drawn = drawn_in(outcome, view, condition.name)
        if drawn:
            key, title = f"{condition.name}-{view.key}", condition.name
            figures.append(_figure(outcome, drawn, f"reached-{key}", title, _words(outcome), False))
            apart = f"{title}: consensus distance"
            figures.append(_figure(outcome, drawn, f"apart-{key}", apart, "Root mean square from the mean model", True))
    return [chart for chart in figures if any(chart.data[name] for name in chart.data)]


def drawn_in(outcome: CompareOutcome, view: CompareView, condition: str) -> Drawn:
    """In the order of the file, ranked as tuning ranks runs."""
    found = []
    for algorithm in contestants(outcome.comparison, view):
        mine = [row for row in outcome.in_conditions if (row.cell.view, row.cell.algorithm) == (view, algorithm)]
        there = [row for row in mine if row.cell.condition == condition]
        ranked = sorted(there, key=lambda row: score(row, outcome.comparison.targets))
        for row in ranked[(len(ranked) - 1) // 2 :][:1]:
            reference = outcome.comparison.reference
            same = [one for one in mine if (one.cell.condition, one.cell.seed) == (reference, row.cell.seed)]
            found.append((row, next(iter(same), None) if condition != reference else None))
    return found


def axes_of(outcome: CompareOutcome) -> list[Measure]:
    timed = clock_of(outcome.in_conditions) is SECONDS
    return [measure for measure in _PLACES if timed or not measure.is_time]


def shaded(drawn: Drawn, measure: Measure) -> list[tuple[str, Range]]:
    """By kind and place: from the first beginning to the last end among the runs that are drawn."""
    spans: dict[tuple[str, int], list[Range]] = {}
    for row, _ in drawn:
        seen: dict[str, int] = {}
        for window in row.windows:
            place = seen.get(window.fault, 0)
            seen[window.fault] = place + 1
            if (span := on_axis(window, measure)) is not None:
                spans.setdefault((window.fault, place), []).append(span)
    return [(kind, (min(b for b, _ in some), max(e for _, e in some))) for (kind, _), some in spans.items()]


def height_of(outcome: CompareOutcome, mark: CompareMark) -> float | None:
    """What targets are about."""
    kind = outcome.comparison.targets[-1].kind
    return mark.left if kind == "suboptimality" else mark.accuracy if kind == "accuracy" else mark.looked_at


def beside(row: CompareRow, first: CompareRow | None, measure: Measure, of: Mapping[int, float]) -> list[float | None]:
    """The curve of the same run in the first condition, at the places of this one; None beyond its end."""
    places = [measure.of(mark) or 0.0 for mark in row.marks]
    pairs = [] if first is None else [(measure.of(mark), of.get(id(mark))) for mark in first.marks]
    known = sorted((x, y) for x, y in pairs if x is not None and y is not None)
    if len(known) < 2:
        return [None] * len(places)
    x, y = np.array(known).T
    return [float(np.interp(place, x, y)) if x[0] <= place <= x[-1] else None for place in places]


def _words(outcome: CompareOutcome) -> str:
    whose = WHOSE[outcome.comparison.of]
    kind = outcome.comparison.targets[-1].kind
    words = {"suboptimality": "(f - f*) / (f(0) - f*), f of", "accuracy": "Test accuracy of", "objective": "f of"}
    return f"{words[kind]} {whose}"


def _figure(outcome: CompareOutcome, drawn: Drawn, key: str, title: str, words: str, is_consensus: bool) -> Chart:
    color, kinds = series_color(algorithms_legend(outcome)), _kinds(drawn)
    unit, size = byte_unit(max((mark.bytes for row, _ in drawn for mark in row.marks), default=0))
    specs: dict[str, Spec] = {}
    data: dict[str, list[Dot]] = {}
    is_beside = any(first is not None for _, first in drawn)
    for measure in axes_of(outcome):
        scale, place = (size, f"Sent by all nodes ({unit})") if measure is BYTES else (1, _PLACES[measure])
        windows = shaded(drawn, measure)
        rows = [
            dot for row, first in drawn for dot in _dots(outcome, row, first, measure, scale, windows, is_consensus)
        ]
        log = (is_consensus or outcome.knows_optimum) and suits_log([dot["y"] for dot in rows if dot["y"] > 0])
        name, shade_name = f"{key}-{measure.key}", f"{key}-faults-{measure.key}"
        data[name] = [_without_zeros(dot) for dot in rows if dot["y"] > 0] if log else rows
        data[shade_name] = [
            {"from": float(f"{b / scale:.6g}"), "to": float(f"{e / scale:.6g}"), "fault": kind}
            for kind, (b, e) in windows
        ]
        shade = Shade(shade_name, kinds) if windows else None
        also = [Axis("first", f"in {outcome.comparison.reference}")] if is_beside else []
        axes = Axis("x", place), Axis("y", words, log)
        specs[measure.key] = curve(name, *axes, color=color, shade=shade, also=also)
    data = {name: rows for name, rows in data.items() if rows or "-faults-" not in name}
    return Chart(key, title, "", specs, data, ("x",))


def _kinds(drawn: Drawn) -> list[str]:
    return list(dict.fromkeys(window.fault for row, _ in drawn for window in row.windows))


def _dots(
    outcome: CompareOutcome,
    row: CompareRow,
    first: CompareRow | None,
    measure: Measure,
    scale: int,
    windows: Sequence[tuple[str, Range]],
    is_consensus: bool,
) -> list[Dot]:
    def height(mark: CompareMark) -> float | None:
        return mark.metrics.get("consensus") if is_consensus else height_of(outcome, mark)

    marks = [] if first is None else first.marks
    known = {id(mark): y for mark in marks if (y := height(mark)) is not None}
    both = list(zip(row.marks, beside(row, first, measure, known), strict=True))
    found: list[Dot] = []
    for mark, other in both[:: max(1, -(-len(both) // _POINTS))]:
        x, y = measure.of(mark), height(mark)
        if x is None or y is None:
            continue
        there = list(dict.fromkeys(kind for kind, (begin, end) in windows if begin <= x < end))
        words = {"group": row.cell.algorithm, "faults": ", ".join(there) or _NONE}
        found.append({"x": _short(x / scale), "y": _short(y), "first": other and _short(other), **words})
    return found


def _without_zeros(dot: Dot) -> Dot:
    first = dot["first"]
    return dot if first is None or first > 0 else {**dot, "first": None}


def _short(value: float) -> float:
    return float(f"{value:.5g}")
