"""A comparison with conditions as one picture that needs no page: who survives what, and a panel of curves for each."""

from collections.abc import Sequence
from typing import Any

import vl_convert

from orchestrator.campaigns.compare.charts import WHOSE
from orchestrator.campaigns.compare.grid import CompareView, views
from orchestrator.campaigns.compare.survival import Survival, clock_of, survivals
from orchestrator.campaigns.compare.survival_charts import drawn_in, height_of, shaded
from orchestrator.campaigns.compare.survival_tables import by_algorithm, in_the_matrix
from orchestrator.campaigns.compare.verdict import CompareOutcome, Measure
from orchestrator.campaigns.verdicts import Verdict
from orchestrator.report.theme import chart_themes

_WIDTH, _HEIGHT, _ROW, _ACROSS = 250, 150, 46, 3
_TINTS = {Verdict.HOLDS: "#cfe8dd", Verdict.FAILS: "#f6d3bd"}
_NO_TINT = "#f0f2f5"
_Spec = dict[str, Any]


def survival_picture(outcome: CompareOutcome) -> str:
    """The picture of the first view as SVG; empty without runs."""
    view, found = views(outcome.comparison)[0], survivals(outcome)
    panels = [panel for one in outcome.comparison.conditions if (panel := _panel(outcome, view, one.name))]
    if not panels:
        return ""
    rows = [{"hconcat": panels[at : at + _ACROSS], "spacing": 26} for at in range(0, len(panels), _ACROSS)]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "vconcat": [_matrix(outcome, found, view), *rows],
        "spacing": 28,
    }
    config = chart_themes()["light"] | {"background": "white", "padding": 16}
    drawn: str = vl_convert.vegalite_to_svg(spec, config=config)
    return drawn + "\n"


def _matrix(outcome: CompareOutcome, found: Sequence[Survival], view: CompareView) -> _Spec:
    comparison, rows = outcome.comparison, by_algorithm(found, view)
    conditions = [condition.name for condition in comparison.conditions]
    values = []
    for algorithm, mine in rows.items():
        for name, one in mine.items():
            word, below = in_the_matrix(one, comparison)
            verdict = None if one.survives is None else one.survives.verdict
            tint = _NO_TINT if verdict is None else _TINTS.get(verdict, _NO_TINT)
            values.append({"algorithm": algorithm, "condition": name, "word": word, "below": below, "tint": tint})
    counted, target = found[0].measure.words, comparison.targets[-1]
    column = {"labelAngle": 0, "orient": "top", "ticks": False, "domain": False, "labelFontSize": 13}
    plain = {"ticks": False, "domain": False, "labelFontSize": 13}
    place: _Spec = {
        "x": {"field": "condition", "type": "ordinal", "sort": conditions, "title": None, "axis": column},
        "y": {"field": "algorithm", "type": "ordinal", "sort": list(rows), "title": None, "axis": plain},
    }
    title = f"Who survives what: {counted} to stay at {target.words}, times those in {comparison.reference}"
    return {
        "title": {"text": title, "anchor": "start", "fontSize": 14, "offset": 10},
        "width": _ACROSS * (_WIDTH + 26) + 40,
        "height": _ROW * len(rows),
        "data": {"values": values},
        "encoding": place,
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 4, "stroke": "white", "strokeWidth": 4},
                "encoding": {"color": {"field": "tint", "type": "nominal", "scale": None}},
            },
            {"mark": {"type": "text", "dy": -7, "fontWeight": 600}, "encoding": {"text": {"field": "word"}}},
            {"mark": {"type": "text", "dy": 9, "fontSize": 11}, "encoding": {"text": {"field": "below"}}},
        ],
    }


def _panel(outcome: CompareOutcome, view: CompareView, condition: str) -> _Spec | None:
    """What is left by the clock; broken: the same algorithm and seed in the first condition."""
    drawn, measure = drawn_in(outcome, view, condition), clock_of(outcome.in_conditions)
    values: list[dict[str, Any]] = [
        {"x": x, "y": y, "algorithm": row.cell.algorithm, "first": is_first}
        for pair in drawn
        for row, is_first in zip(pair, (False, True), strict=True)
        if row is not None
        for mark in row.marks
        if (x := measure.of(mark)) is not None and (y := height_of(outcome, mark)) is not None and y > 0
    ]
    if not values:
        return None
    end = max(value["x"] for value in values if not value["first"])
    windows = [{"from": begin, "to": to} for _, (begin, to) in shaded(drawn, measure)]
    names = list(outcome.comparison.entries)
    ends = {"x": {"field": "from", "type": "quantitative"}, "x2": {"field": "to"}}
    return {
        "title": {"text": condition, "anchor": "start", "fontSize": 13},
        "width": _WIDTH,
        "height": _HEIGHT,
        "layer": [
            {"data": {"values": windows}, "mark": {"type": "rect", "style": "fault", "clip": True}, "encoding": ends},
            {
                "data": {"values": values},
                "mark": {"type": "line", "clip": True, "strokeWidth": 1.75},
                "encoding": _line(outcome, measure, names, end),
            },
        ],
    }


def _line(outcome: CompareOutcome, measure: Measure, names: Sequence[str], end: float) -> _Spec:
    kind = outcome.comparison.targets[-1].kind
    scale = {"type": "log", "nice": False} if outcome.knows_optimum else {"zero": False}
    marks = {"format": "~r", "labelOverlap": True, "tickCount": 5}
    height = {"title": [kind, f"of {WHOSE[outcome.comparison.of]}"], "scale": scale, "axis": marks}
    dashes = {"domain": [False, True], "range": [[1, 0], [4, 4]]}
    width = {"title": measure.words, "axis": marks, "scale": {"domain": [0, end], "nice": False}}
    return {
        "x": {"field": "x", "type": "quantitative", **width},
        "y": {"field": "y", "type": "quantitative", **height},
        "strokeDash": {"field": "first", "type": "nominal", "legend": None, "scale": dashes},
        "color": {"field": "algorithm", "type": "nominal", "title": None, "scale": {"domain": list(names)}},
    }
