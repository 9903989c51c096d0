"""The charts of a study: the same outcome by spare, by condition, and predicted beside measured."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from orchestrator.campaigns.report_parts import dot, dot_chart
from orchestrator.campaigns.studies.grid import PATIENCES, SPARES
from orchestrator.campaigns.studies.measure import BYTES, LEFT, LEFT_ON_THEIRS, TIME, Rows, StudyFigure
from orchestrator.campaigns.studies.verdict import StudyOutcome
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.vega import Categories, Legend
from orchestrator.report.vega import Row as Dot
from orchestrator.results.spread import spread

_KIB = 1024.0
_SHOWN = (
    "pame-0-long", "pame-0-adaptive", "pame-2-adaptive", "pame-all-long", "pame-all-adaptive", "free", "dpsgd-long",
    "dpsgd-adaptive",
)  # fmt: skip
"""As many as there are colours."""
_MISSES = "Cells whose median run missed the target have no dot."


@dataclass(frozen=True)
class ChartView:
    key: str
    figure: StudyFigure
    axis: str
    unit: float = 1.0


TO_TARGET = ChartView("time", TIME, "Seconds to target")
VIEWS = (
    TO_TARGET,
    ChartView("bytes", BYTES, "KiB to target", _KIB),
    ChartView("left", LEFT, "Share of the way left at the end"),
    ChartView("own", LEFT_ON_THEIRS, "Share of the way left on the struck nodes' own data"),
)


def view_switch() -> Switch:
    """The buttons that choose what all charts show."""
    return Switch("view", "Outcome", {view.key: view.figure.heading for view in VIEWS})


def by_spare(outcome: StudyOutcome) -> list[Chart]:
    """PaME's outcome against its spare, a series per condition, a chart per patience."""
    rows, conditions = Rows(outcome.predicted), outcome.study.conditions
    figures = []
    for patience in PATIENCES:
        policies = [policy for policy in outcome.policies if policy.spare and policy.patience == patience]
        cells = [(policy.spare, c.words, policy.key, c.key) for c in conditions for policy in policies]
        if not policies:
            continue
        spares = [spare for spare in SPARES if spare in {policy.spare for policy in policies}]
        axis = Categories("x", "Spare neighbours", spares)
        legend = Legend("condition", [condition.words for condition in conditions], ordered=False)
        note = f"PaME with {patience} patience; medians and ranges over seeds. {_MISSES}"
        title = f"By spare, {patience} patience"
        figures.append(_chart(f"spare-{patience}", title, note, axis, legend, partial(dots_of, rows, cells)))
    return figures


def by_condition(outcome: StudyOutcome) -> Chart:
    rows, conditions = Rows(outcome.predicted), outcome.study.conditions
    policies = [policy for policy in outcome.policies if policy.key in _SHOWN]
    cells = [(c.short, policy.words, policy.key, c.key) for policy in policies for c in conditions]
    axis = Categories("x", "Condition", [condition.short for condition in conditions])
    legend = Legend("policy", [policy.words for policy in policies], ordered=False)
    note = f"Medians and ranges over seeds, in the simulator. {_MISSES}"
    return _chart("conditions", "By condition", note, axis, legend, partial(dots_of, rows, cells))


def side_by_side(outcome: StudyOutcome) -> Chart | None:
    """Prediction and measurement of the cells that ran on real nodes."""
    pairs = outcome.pairs()
    if not pairs:
        return None
    series = ("predicted", "measured")
    labels = [str(number) for number in range(1, len(pairs) + 1)]

    def dots(view: ChartView) -> list[Dot]:
        return [
            dot(label, name, found, view.unit)
            for label, pair in zip(labels, pairs, strict=True)
            for name, row in zip(series, pair, strict=True)
            if (found := spread([view.figure.of(row)])) is not None
        ]

    axis, legend = Categories("x", "Cell, as numbered in the table above", labels), Legend("", series, ordered=False)
    note = "The same cell and seed in the simulator and on real nodes. A cell that missed the target has no dot."
    return _chart("real", "Predicted and measured", note, axis, legend, dots)


def dots_of(rows: Rows, cells: Iterable[tuple[str, str, str, str]], view: ChartView) -> list[Dot]:
    """A cell is (place, series, policy, condition)."""
    return [
        dot(place, series, found, view.unit)
        for place, series, policy, condition in cells
        if (found := rows.figure(policy, condition, view.figure)) is not None and not found.is_missed
    ]


def _chart(
    key: str, title: str, note: str, axis: Categories, legend: Legend, dots: Callable[[ChartView], list[Dot]]
) -> Chart:
    views = {view.key: (view.axis, dots(view)) for view in VIEWS}
    return dot_chart(key, title, note, axis, legend, views, ("view",), zero=True)
