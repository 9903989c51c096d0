"""A comparison as one picture that needs no page: suboptimality or accuracy against rounds and bytes, by view."""

from pathlib import Path
from typing import Any

import vl_convert

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.compare.charts import WHOSE, median_runs, names_of, pairs_of
from orchestrator.campaigns.compare.grid import CompareView, views
from orchestrator.campaigns.compare.survival_picture import survival_picture
from orchestrator.campaigns.compare.verdict import BYTES, ROUNDS, CompareOutcome, Measure
from orchestrator.errors import writing
from orchestrator.report.theme import chart_themes

FILE = "comparison.svg"
_WIDTH, _HEIGHT = 330, 210
_Spec = dict[str, Any]


def write_picture(folder: Path, outcome: CompareOutcome) -> None:
    """Writes `comparison.svg`, where there is anything to show."""
    if text := picture(outcome):
        with writing(folder):
            (folder / FILE).write_text(text, encoding="utf-8")


def picture(outcome: CompareOutcome) -> str:
    """The picture as SVG; empty without runs."""
    if outcome.in_conditions:
        return survival_picture(outcome)
    rows = [
        {"hconcat": [_panel(outcome, view, measure) for measure in (ROUNDS, BYTES)], "spacing": 30}
        for view in views(outcome.comparison)
        if median_runs(outcome, view)
    ]
    if not rows:
        return ""
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "vconcat": rows, "spacing": 30}
    config = chart_themes()["light"] | {"background": "white", "padding": 16}
    drawn: str = vl_convert.vegalite_to_svg(spec, config=config)
    return drawn + "\n"


def _panel(outcome: CompareOutcome, view: CompareView, measure: Measure) -> _Spec:
    runs, names, is_left = median_runs(outcome, view), names_of(outcome), outcome.knows_optimum
    size = 2**20 if measure is BYTES else 1
    values: list[dict[str, Any]] = [
        {"x": x / size, "y": y, "algorithm": algorithm_name(run.cell.algorithm), "baseline": run.cell.is_baseline}
        for run in runs
        for x, y in pairs_of(runs, measure, run, lambda mark: mark.left if is_left else mark.accuracy)
        if x > 0 and y > 0
    ]
    title = "sent by all nodes (MiB)" if measure is BYTES else "communication rounds"
    words = "suboptimality" if is_left else "accuracy"
    whose = [f"relative {words}" if is_left else f"test {words}", f"of {WHOSE[outcome.comparison.of]}"]
    log = {"type": "log", "nice": False}
    # Who ends above where all began is off the picture.
    start = min(1.0, max((value["y"] for value in values), default=1.0))
    heights = {**log, "domainMax": start} if is_left else {"zero": False}
    dashes = {"domain": [False, True], "range": [[1, 0], [5, 4]]}
    colors = {"domain": names}
    marks = {"format": "~g", "labelOverlap": True}
    # a reading's name is nearly as wide as a panel
    subtitle = {"subtitle": f"{measure.key} to {words}", "subtitleFontSize": 12}
    return {
        "title": {"text": view.value, "anchor": "start", "fontSize": 13, **subtitle},
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": values},
        "mark": {"type": "line", "clip": True},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": title, "scale": log, "axis": marks},
            "y": {"field": "y", "type": "quantitative", "title": whose, "scale": heights},
            "strokeDash": {"field": "baseline", "type": "nominal", "legend": None, "scale": dashes},
            "color": {"field": "algorithm", "type": "nominal", "title": None, "sort": names, "scale": colors},
        },
    }
