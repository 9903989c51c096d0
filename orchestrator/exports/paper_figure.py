"""A figure for a paper: lines with ranges over what faults did, as SVG, PDF or PNG of a column's width.

Lengths are points (1/72 inch), which is what a PDF and a text around it measure in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import vl_convert

from orchestrator.errors import writing
from orchestrator.exports.figure_series import FigureLine, FigureRefused, ShadedWindow
from orchestrator.number_words import byte_unit, is_share, metric_title

FORMATS = (".pdf", ".svg", ".png")
PALETTES = {
    "okabe-ito": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"],
    "tol": ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777"],
    "grey": ["#000000", "#555555", "#8a8a8a"],
}
"""Safe for colour-blind readers; grey, for print, tells lines apart by their dashes, too."""
_DASHES = [[1, 0], [6, 2], [2, 2], [7, 2, 2, 2], [10, 3], [3, 1, 1, 1]]
_FAULT_FILLS = ["#c9ced6", "#ecd9b0", "#cfe3d4", "#e6d0dd"]
_MM = 72 / 25.4
_PNG_PPI = 300
_TICK = (
    "datum.value >= 0.001 && datum.value < 1e5 ? format(datum.value, '.6~g') "
    ": replace(format(datum.value, '.2~e'), '+', '')"
)
"""Along a log axis; no small raised digits, for not every font has them."""
_LOG_FROM = 10
"""The largest value over the smallest from which on a log axis is worth it."""
_CHARACTER = 0.52
"""The width of one, as a share of the size of the font; and the room of a label along an axis, in characters."""
_LABEL = 6
_MOST_POINTS = 600
_Y_TITLES = {
    "objective": "f(mean model)",
    "gap": "f(mean model) − f*",
    "nodes_objective": "f, mean over the nodes",
    "nodes_gap": "f − f*, mean over the nodes",
    "worst_objective": "f of the worst node",
    "worst_gap": "f − f*, worst node",
    "consensus": "consensus distance",
    "left": "(f − f*) / (f(0) − f*)",
}
_X_TITLES = {"iteration": "iteration", "rounds": "communication rounds"}
_Spec = dict[str, Any]


@dataclass(frozen=True)
class FigureLook:
    """Width and height in millimetres; 84 and 174 are one and two columns of most journals."""

    width_mm: float = 84.0
    height_mm: float = 56.0
    font: str = "Liberation Sans"
    font_size: float = 8.0
    palette: str = "okabe-ito"
    log: bool | None = None
    """Of the vertical axis; None: where it helps."""

    def __post_init__(self) -> None:
        if self.palette not in PALETTES:
            raise FigureRefused(f"there is no palette {self.palette!r}: choose one of {', '.join(PALETTES)}")
        if not (30 <= self.width_mm <= 1000 and 20 <= self.height_mm <= 1000):
            raise FigureRefused("a figure is 30 to 1000 mm wide and 20 to 1000 mm high: change --width or --height")
        if not 4 <= self.font_size <= 40:
            raise FigureRefused("a font has 4 to 40 points: change --font-size")
        if not _is_there(self.font):
            raise FigureRefused(f"there is no font {self.font!r} on this machine: install it, or leave --font out")


@dataclass(frozen=True)
class PaperFigure:
    """What is drawn; `spec` is all of it for Vega-Lite."""

    spec: _Spec

    def svg(self) -> str:
        text: str = vl_convert.vegalite_to_svg(self.spec)
        return text

    def write(self, path: Path) -> None:
        """In the format that the name says."""
        check_format(path)
        if path.suffix.lower() == ".svg":
            data = self.svg().encode()
        elif path.suffix.lower() == ".pdf":
            data = vl_convert.vegalite_to_pdf(self.spec)
        else:
            data = vl_convert.vegalite_to_png(self.spec, ppi=_PNG_PPI)
        with writing(path):
            path.write_bytes(data)


def check_format(path: Path) -> None:
    if path.suffix.lower() not in FORMATS:
        raise FigureRefused(f"{path}: a figure is a file of the kind {', '.join(FORMATS)}: give its name such an end")


def draw(
    lines: Sequence[FigureLine],
    x: str,
    y: str,
    look: FigureLook,
    windows: Sequence[ShadedWindow] = (),
    is_simulated: bool = False,
) -> PaperFigure:
    """`windows`: what is shaded; `is_simulated`: whether seconds are those of the simulator."""
    unit, size = byte_unit(max((float(line.x.max()) for line in lines if line.x.size), default=0.0))
    x_scale = size if x == "bytes" else 1
    y_scale = 0.01 if is_share(y) else 1.0
    lowest = [float(value) for line in lines for value in line.low]
    is_log = _is_log([value for value in lowest if value > 0], y) if look.log is None else look.log
    rows = [row for line in lines for row in _rows(line, x_scale, y_scale, is_log)]
    if not rows:
        raise FigureRefused(f"nothing of {y} is above 0, and a log axis has no place for it: use --linear")
    names, drawn = [line.label for line in lines], list(dict.fromkeys(window.fault for window in windows))
    end = max(row["x"] for row in rows)
    x_title = _X_TITLES.get(x, f"sent by all nodes ({unit})")
    if x == "seconds":
        x_title = "simulated time (s)" if is_simulated else "time (s)"
    heights = [value for row in rows for value in (row["lo"], row["hi"])]
    channels = {
        "x": {
            "field": "x", "type": "quantitative", "title": x_title,
            "scale": {"domain": [min(0.0, min(row["x"] for row in rows)), end], "nice": False},
            "axis": {"tickCount": _tick_count(look), "labelOverlap": "greedy", "labelSeparation": 4, "grid": False},
        },
        "y": {"type": "quantitative", "title": _y_title(y), **_heights(heights, is_log, look)},
    }  # fmt: skip
    layers = [_shade(windows, drawn, x_scale, end)] if windows else []
    if any(line.runs > 1 for line in lines):
        layers.append(_band(channels, names, look))
    layers.append(_line(channels, names, look))
    spec: _Spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": look.width_mm * _MM,
        "height": look.height_mm * _MM,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": 2,
        "background": "white",
        "data": {"values": rows},
        "layer": layers,
        "resolve": {"scale": {"fill": "independent"}},
        "config": _config(look),
    }
    return PaperFigure(spec)


def _is_log(values: Sequence[float], y: str) -> bool:
    return not is_share(y) and bool(values) and max(values) >= _LOG_FROM * min(values)


def _rows(line: FigureLine, x_scale: float, y_scale: float, is_log: bool) -> list[dict[str, Any]]:
    places = np.unique(np.linspace(0, max(line.x.size - 1, 0), _MOST_POINTS).round().astype(int))
    found = []
    for place in places.tolist() if line.x.size else []:
        low, mid, high = (float(values[place]) / y_scale for values in (line.low, line.y, line.high))
        if is_log and low <= 0:
            continue
        found.append({"x": float(line.x[place]) / x_scale, "y": mid, "lo": low, "hi": high, "line": line.label})
    return found


def _heights(values: Sequence[float], is_log: bool, look: FigureLook) -> _Spec:
    low, high = min(values), max(values)
    axis: _Spec = {"gridOpacity": 0.7}
    if not is_log:
        count = max(3, int(look.height_mm * _MM / (4 * look.font_size)))
        return {"scale": {"zero": False, "nice": True}, "axis": {**axis, "tickCount": count, "labelOverlap": "greedy"}}
    if high <= low:
        low, high = low / 2, high * 2
    ticks = log_ticks(low, high, most=max(2, int(look.height_mm * _MM / (3 * look.font_size))))
    return {
        "scale": {"type": "log", "nice": False, "domain": [low, high]},
        "axis": {**axis, "values": ticks, "labelExpr": _TICK, "labelOverlap": False},
    }


def log_ticks(low: float, high: float, most: int) -> Sequence[float]:
    """Powers of ten within, at most so many, evenly apart; 1, 2 and 5 of each where there are fewer than two."""
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) >= 2:
        step = ceil(len(powers) / most)
        return [10.0**power for power in powers if power % step == 0] or [10.0 ** powers[0]]
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    ticks = [digit * 10.0**power for power in decades for digit in (1, 2, 5)]
    inside = [float(tick) for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    if len(inside) >= 2:
        return inside
    apart = 10.0 ** floor(log10((high - low) / 2))
    evenly = [number * apart for number in range(ceil(low / apart), floor(high / apart) + 1)]
    return evenly[:: ceil(len(evenly) / most)]


def _tick_count(look: FigureLook) -> int:
    """So few that labels do not touch, although Vega draws up to half as many more."""
    room = look.width_mm * _MM - _LABEL * look.font_size
    return max(2, int(room / (2 * _LABEL * _CHARACTER * look.font_size)))


def _is_there(font: str) -> bool:
    """Whether words in it leave any ink: without its font a text is simply not drawn."""
    text = f'<text x="2" y="16" font-size="16" font-family={quoteattr(font)}>M</text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24">{text}</svg>'
    return bool(vl_convert.svg_to_png(svg) != vl_convert.svg_to_png(svg.replace(">M<", "> <")))


def _y_title(y: str) -> str:
    if is_share(y):
        whose, _, metric = y.partition("_") if y.startswith(("nodes_", "lowest_", "highest_")) else ("", "", y)
        words = {"nodes": ", mean over the nodes", "lowest": ", lowest node", "highest": ", highest node"}.get(
            whose, ""
        )
        return f"{metric_title(metric).lower()}{words} (%)"
    return _Y_TITLES.get(y, y.replace("_", " "))


def _stroke(names: Sequence[str], look: FigureLook) -> _Spec:
    """Colours, and dashes where colours are used a second time or are shades of grey."""
    colours = PALETTES[look.palette]
    several = look.palette == "grey"
    dashes = [_DASHES[(place if several else place // len(colours)) % len(_DASHES)] for place in range(len(names))]
    legend: _Spec | None = None
    if len(names) > 1:
        room = look.font_size * _CHARACTER * max(map(len, names)) + 34
        columns = max(1, int(look.width_mm * _MM / room))
        legend = {"orient": "top", "title": None, "columns": columns, "symbolType": "stroke", "symbolSize": 220}
    common = {"field": "line", "type": "nominal", "sort": None}
    ranges = [colours[place % len(colours)] for place in range(len(names))]
    return {
        "stroke": {**common, "scale": {"domain": list(names), "range": ranges}, "legend": legend},
        "strokeDash": {**common, "scale": {"domain": list(names), "range": dashes}, "legend": legend},
    }


def _line(channels: _Spec, names: Sequence[str], look: FigureLook) -> _Spec:
    y = {**channels["y"], "field": "y"}
    return {
        "mark": {"type": "line", "clip": True, "strokeWidth": 1.3, "strokeJoin": "round"},
        "encoding": {"x": channels["x"], "y": y, **_stroke(names, look)},
    }


def _band(channels: _Spec, names: Sequence[str], look: FigureLook) -> _Spec:
    """From the lowest to the highest of several seeds."""
    colours = PALETTES[look.palette]
    scale = {"domain": list(names), "range": [colours[place % len(colours)] for place in range(len(names))]}
    fill = {"field": "line", "type": "nominal", "scale": scale, "legend": None}
    ends = {"y": {**channels["y"], "field": "lo"}, "y2": {"field": "hi"}}
    mark = {"type": "area", "clip": True, "opacity": 0.18, "strokeWidth": 0}
    return {"mark": mark, "encoding": {"x": channels["x"], **ends, "fill": fill}}


def _shade(windows: Sequence[ShadedWindow], kinds: Sequence[str], x_scale: float, end: float) -> _Spec:
    values = [
        {"x": window.begin / x_scale, "to": min(window.end / x_scale, end), "fault": window.fault}
        for window in windows
        if window.begin / x_scale < end
    ]
    fills = [_FAULT_FILLS[place % len(_FAULT_FILLS)] for place in range(len(kinds))]
    legend = {"orient": "top", "title": None, "symbolType": "square", "symbolStrokeWidth": 0}
    fill = {"field": "fault", "type": "nominal", "scale": {"domain": list(kinds), "range": fills}, "legend": legend}
    return {
        "data": {"values": values},
        "mark": {"type": "rect", "clip": True, "opacity": 0.6},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "x2": {"field": "to"},
            "fill": fill,
        },
    }


def _config(look: FigureLook) -> _Spec:
    ink, line, size = "#111111", "#555555", look.font_size
    return {
        "font": look.font,
        "view": {"stroke": None},
        "axis": {
            "labelFontSize": size, "titleFontSize": size, "titleFontWeight": "normal", "labelColor": ink,
            "titleColor": ink, "domainColor": line, "tickColor": line, "gridColor": "#dddddd", "gridWidth": 0.5,
            "domainWidth": 0.6, "tickWidth": 0.6, "tickSize": 3, "labelPadding": 2, "titlePadding": 4,
        },
        "legend": {
            "labelFontSize": size, "labelColor": ink, "offset": 3, "rowPadding": 1, "columnPadding": 8,
            "labelOffset": 2, "labelLimit": look.width_mm * _MM - 40,
        },
    }  # fmt: skip
