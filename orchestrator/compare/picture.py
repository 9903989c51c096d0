"""A comparison as one picture that needs no page: suboptimality against rounds and bytes, in both views."""

from pathlib import Path
from typing import Any

import vl_convert

from orchestrator.compare.charts import median_runs
from orchestrator.compare.grid import View
from orchestrator.compare.outcome import Outcome
from orchestrator.compare.report import TITLES
from orchestrator.compare.verdict import BYTES, ROUNDS, Measure
from orchestrator.errors import writing
from orchestrator.report.theme import chart_themes

FILE = "comparison.svg"
_WIDTH, _HEIGHT = 330, 210
_Spec = dict[str, Any]


def write_picture(folder: Path, outcome: Outcome) -> None:
    """Writes `comparison.svg`, where there is anything to show."""
    if text := picture(outcome):
        with writing(folder):
            (folder / FILE).write_text(text, encoding="utf-8")


def picture(outcome: Outcome) -> str:
    """The picture as SVG; empty without runs."""
    rows = [_row(outcome, view) for view in View if median_runs(outcome, view)]
    if not rows:
        return ""
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "vconcat": rows, "spacing": 30}
    config = chart_themes()["light"] | {"background": "white", "padding": 16}
    drawn: str = vl_convert.vegalite_to_svg(spec, config=config)
    return drawn + "\n"


def _row(outcome: Outcome, view: View) -> _Spec:
    return {"hconcat": [_panel(outcome, view, measure) for measure in (ROUNDS, BYTES)], "spacing": 30}


def _panel(outcome: Outcome, view: View, measure: Measure) -> _Spec:
    runs, names = median_runs(outcome, view), list(outcome.comparison.entries)
    size = 2**20 if measure is BYTES else 1
    values: list[dict[str, Any]] = [
        {"x": x / size, "y": mark.left, "algorithm": run.cell.algorithm}
        for run in runs
        for mark in run.marks
        if (x := measure.of(mark)) and mark.left > 0
    ]
    title = "sent by all nodes (MiB)" if measure is BYTES else "communication rounds"
    log = {"type": "log", "nice": False}
    # Who ends above where all began is off the picture.
    start = min(1.0, max((value["y"] for value in values), default=1.0))
    return {
        "title": {"text": f"{TITLES[view].lower()}: {measure.key} to suboptimality", "anchor": "start", "fontSize": 13},
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": values},
        "mark": {"type": "line", "clip": True},
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "title": title,
                "scale": log,
                "axis": {"format": "~g", "labelOverlap": True},
            },
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": "relative suboptimality",
                "scale": {**log, "domainMax": start},
            },
            "color": {
                "field": "algorithm",
                "type": "nominal",
                "title": None,
                "sort": names,
                "scale": {"domain": names},
            },
        },
    }
