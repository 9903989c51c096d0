"""The charts of a sweep: curves over each other, and what came out against what was swept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from orchestrator.algorithm_names import setting_value
from orchestrator.number_words import NOT_MEASURED, byte_unit, duration, is_share, metric_title, number, volume
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.progress import NO_CLOCK, seconds_words
from orchestrator.report.sweep import SweepData, SweepRun, along, gap, middle, setting_words, short_names
from orchestrator.report.vega import Axis, Categories, Legend, Row, curve, ranges, series_color, suits_log
from orchestrator.results.files import finite
from orchestrator.results.spread import spread
from orchestrator.results.summary import FinalFigures, RunSummary
from pame.observe import Evaluation

CATEGORIES = 8
KEYS_SHOWN = 3
WIDE_RANGE = 50
ROWS_PER_CHART = 2000
At = FinalFigures | Evaluation
"""Where a run ended, or a point of its curve."""


@dataclass(frozen=True, slots=True)
class FinalFigure:
    name: str
    title: str
    of: Callable[[RunSummary], float | None]
    words: Callable[[float | None], str] = number


@dataclass(frozen=True, slots=True)
class SweepMeasure:
    """A figure of the points of a run, the last of which is an outcome of it."""

    name: str
    title: str
    axis: str
    of: Callable[[RunSummary | None, At], float | None]
    words: Callable[[float | None], str] = number

    @property
    def final(self) -> FinalFigure:
        return FinalFigure(self.name, self.title, lambda summary: self.of(summary, summary.final), self.words)


OBJECTIVE = SweepMeasure("f", "Final f", "f(mean model)", lambda _, at: at.objective)
GAP = SweepMeasure("gap", "Final gap f − f*", "f(mean model) − f*", lambda summary, at: gap(summary, at.objective))
CONSENSUS = SweepMeasure("consensus", "Consensus distance", "Consensus distance", lambda _, at: at.consensus)


def headline_metric(sweep: SweepData) -> str | None:
    """The metric that all runs have as their headline, if there is one."""
    names = {run.summary.metric for run in sweep.runs if run.summary is not None}
    return names.pop() if len(names) == 1 else None


def outcomes(sweep: SweepData) -> list[FinalFigure]:
    return [
        *(measure.final for measure in _measures(sweep)),
        FinalFigure("bytes", "Transmitted", lambda summary: summary.bytes.total, volume),
        FinalFigure("seconds", seconds_words(_backend(sweep)), lambda summary: summary.seconds, duration),
        FinalFigure("iterations", "Iterations", lambda summary: summary.iterations),
    ]


def _measures(sweep: SweepData) -> list[SweepMeasure]:
    """Shares in percent: of the mean model, and of the nodes' own, the mean over the nodes."""
    metric = headline_metric(sweep)
    found = [GAP if sweep.has_optima else OBJECTIVE, CONSENSUS]
    if metric is None:
        return found
    title = metric_title(metric)
    if not is_share(metric):
        return [*found, SweepMeasure("metric", title, title, lambda _, at: at.metrics.get(metric))]

    def of_mean(_: RunSummary | None, at: At) -> float | None:
        return _percent(at.metrics.get(metric))

    def of_nodes(_: RunSummary | None, at: At) -> float | None:
        return _percent(at.own.metrics.get(metric)) if at.own else None

    nodes_axis = f"{title} (%), mean of the nodes' own models"
    shares = [
        SweepMeasure("share", title, f"{title} (%)", of_mean, _percent_words),
        SweepMeasure("share-nodes", f"{title} of the nodes", nodes_axis, of_nodes, _percent_words),
    ]
    return found + shares if sweep.has_optima else shares + found


def is_percent(figure: FinalFigure) -> bool:
    """Shares, of which the highest is the best."""
    return figure.name.startswith("share")


def _percent(share: float | None) -> float | None:
    known = finite(share)
    return None if known is None else 100 * known


def _percent_words(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.1f} %"


def x_switch(sweep: SweepData) -> Switch:
    """The buttons that choose the horizontal axis of all curves; the first is the one a reader finds chosen."""
    options = {"iteration": "Iterations", "seconds": seconds_words(_backend(sweep)), "bytes": "Bytes"}
    if all_timed(sweep):
        options = {"seconds": options["seconds"], **options}
    return Switch("x", "Horizontal axis", options, {} if _timed(sweep) else {"seconds": NO_CLOCK})


def legend(sweep: SweepData) -> Legend:
    """The groups of the sweep, as the curves name them."""
    labels = [group.label for group in sweep.groups]
    return Legend(" · ".join(sweep.keys), labels, sweep.ordered or len(labels) > CATEGORIES)


def overlaid_curves(sweep: SweepData) -> list[Chart]:
    """Objective, or its gap to the optimum, consensus distance and headline metric of all groups over each other."""
    unit, size = byte_unit(max((point.bytes or 0 for run in sweep.runs for point in run.curve), default=0))
    axes = {
        "iteration": (Axis("x", "Iteration"), 1),
        "bytes": (Axis("x", f"Transmitted by all nodes ({unit})"), size),
    }
    if _timed(sweep):
        axes["seconds"] = (Axis("x", f"{seconds_words(_backend(sweep))} (s)"), 1)
    color = series_color(legend(sweep))
    note = "Lines are medians over seeds, bands reach from the lowest to the highest." if sweep.repeated else ""
    figures, measures = [], _measures(sweep)
    for measure in measures:
        key, words = "objective" if measure in (OBJECTIVE, GAP) else measure.name, measure.axis
        rows = {x: _rows(sweep, x, measure, size) for x, (_, size) in axes.items()}
        if not any(rows.values()):
            continue
        low = "lo" if sweep.repeated else "y"
        values = [row[end] for x in rows for row in rows[x] for end in {low, "y"}]
        positive = values if key == "objective" else [value for value in values if value > 0]
        log = not key.startswith("share") and suits_log(positive)
        data = {f"{key}-{x}": [row for row in rows[x] if row[low] > 0] if log else rows[x] for x in rows}
        specs = {
            x: curve(f"{key}-{x}", axis, Axis("y", words, log), color=color, band=sweep.repeated)
            for x, (axis, _) in axes.items()
        }
        shape = "wide" if measure is measures[0] else "half"
        title = words if key != "objective" else "Gap to the optimum" if sweep.has_optima else "Objective"
        figures.append(Chart(key, title, note, specs, data, ("x",), shape=shape))
    return figures


def outcome_charts(sweep: SweepData) -> list[Chart]:
    """For each swept key, a number or not: what the runs ended with, against it."""
    short = short_names(sweep.keys)
    figures = []
    for index, key in enumerate(sweep.keys[:KEYS_SHOWN]):
        others = [other for other in sweep.keys if other != key]
        rows_of = {o.name: _outcome_rows(sweep, key, others, short, o) for o in outcomes(sweep)}
        shown = [outcome for outcome in outcomes(sweep) if rows_of[outcome.name]]
        if not shown:
            continue
        x = _swept_axis(sweep, key)
        labels = list(dict.fromkeys(str(row["group"]) for row in rows_of[shown[0].name]))
        names = Legend(" · ".join(others), labels, len(labels) > CATEGORIES) if others else None
        color = series_color(names) if names else None
        specs, data = {}, {}
        for outcome in shown:
            rows, words = _in_unit(outcome, rows_of[outcome.name])
            log = not is_percent(outcome) and suits_log([row[end] for row in rows for end in ("lo", "hi")])
            data[f"outcome-{index}-{outcome.name}"] = rows
            specs[outcome.name] = ranges(f"outcome-{index}-{outcome.name}", x, Axis("y", words, log), color)
        switch = Switch(f"outcome-{index}", "Outcome", {outcome.name: outcome.title for outcome in shown})
        note = "Runs that ended without a number are left out."
        if sweep.repeated:
            note = f"Dots are medians over seeds, strokes reach from the lowest to the highest. {note}"
        figures.append(
            Chart(f"outcome-{index}", f"Outcome by {key}", note, specs, data, (switch.name,), switch, names, "wide")
        )
    return figures


def known(runs: Sequence[SweepRun], outcome: FinalFigure) -> list[float]:
    """The outcome of those runs that have it."""
    values = [outcome.of(run.summary) for run in runs if run.summary is not None]
    return [value for value in values if value is not None]


def _rows(sweep: SweepData, x: str, measure: SweepMeasure, size: int) -> list[Row]:
    rows: list[Row] = []
    for group in sweep.groups:
        grid, mid, low, high = middle([along(run, x, partial(measure.of, run.summary)) for run in group.runs])
        keep = max(1, -(-grid.size * len(sweep.groups) // ROWS_PER_CHART))
        for place, y, lo, hi in zip(grid[::keep], mid[::keep], low[::keep], high[::keep], strict=True):
            row = {"x": place / size, "y": y} | ({"lo": lo, "hi": hi} if sweep.repeated else {})
            rows.append({field: float(f"{value:.5g}") for field, value in row.items()} | {"group": group.label})
    return rows


def _swept_axis(sweep: SweepData, key: str) -> Axis | Categories:
    values = [group.values[key] for group in sweep.groups if key in group.values]
    if not sweep.numeric(key):
        return Categories("x", key, list(dict.fromkeys(setting_value(key, value) for value in values)))
    places = [float(value) for value in values if value is not None]
    return Axis("x", key, log=min(places) > 0 and max(places) > WIDE_RANGE * min(places))


def _outcome_rows(
    sweep: SweepData, key: str, others: list[str], short: dict[str, str], outcome: FinalFigure
) -> list[Row]:
    rows: list[Row] = []
    for group in sweep.groups:
        if key not in group.values:
            continue
        found = spread(known(group.runs, outcome))
        if found is not None:
            x = finite(group.values[key]) if sweep.numeric(key) else setting_value(key, group.values[key])
            ends = {"y": found.median, "lo": found.low, "hi": found.high}
            label = setting_words(group.values, others, short)
            rows.append({"x": x, "group": label, "runs": found.runs, **ends})
    return rows


def _in_unit(outcome: FinalFigure, rows: list[Row]) -> tuple[list[Row], str]:
    if outcome.name == "seconds":
        return rows, f"{outcome.title} (s)"
    if outcome.name != "bytes":
        return rows, f"{outcome.title} (%)" if is_percent(outcome) else outcome.title
    unit, size = byte_unit(max(row["hi"] for row in rows))
    return [{**row, **{end: row[end] / size for end in ("y", "lo", "hi")}} for row in rows], f"{outcome.title} ({unit})"


def all_timed(sweep: SweepData) -> bool:
    """Whether every run that left a summary had a clock."""
    summaries = [run.summary for run in sweep.runs if run.summary is not None]
    return bool(summaries) and all(summary.seconds is not None for summary in summaries)


def _timed(sweep: SweepData) -> bool:
    return any(point.seconds is not None for run in sweep.runs for point in run.curve)


def _backend(sweep: SweepData) -> str:
    return next((run.summary.backend for run in sweep.runs if run.summary is not None), "")
