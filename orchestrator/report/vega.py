"""The few kinds of chart a report is made of, as Vega-Lite dictionaries over named data sets.

Pure functions of data. Field names are ours (`x`, `y`, `m0`), never a user's: a metric called `a.b[0]` would
otherwise be read as a path. What a user named appears only as titles and values, which Vega draws as plain text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Spec = dict[str, Any]
Row = Mapping[str, Any]
NUMBER = ".4~g"
# Plain digits from 0.001 to a million, powers of ten beyond; labels that a crowded log axis leaves out stay out.
LABEL = (
    "datum.label === '' || datum.value === 0 || (abs(datum.value) >= 0.001 && abs(datum.value) < 1e6) "
    "? (datum.label === '' ? '' : format(datum.value, '.6~g')) : replace(format(datum.value, '.2~e'), '+', '')"
)
# The page sets `pick` to the series that the reader has chosen in its legend.
PICKED = "!pick || datum.group === pick"
PICK: Spec = {"name": "pick", "value": None}
POWER_OF_TEN = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6"
GRADIENT = {"format": NUMBER, "gradientLength": 180, "gradientThickness": 10, "orient": "bottom"}
BINS = 30
# Pixels beyond the data on a log axis: full decades would leave up to half of a chart empty.
LOG_PADDING = 10
LABEL_ROOM = 36
KIND_ROOM = 120
NAMED_COLUMNS = 12
# Pixels of a row of a heat map, by the largest number of rows for which it holds; a figure needs 18 and FIGURE_ROOM.
ROW_PIXELS = {16: 26, 32: 18, 64: 10, 128: 6}
FIGURE_ROOM = 31
# Which numbers along an axis of places are written, by how many places there are.
LABEL_STEPS = {32: 1, 64: 5, 200: 10}
# The colour of a figure by that of its cell, from 0 to 1.
FIGURE_COLOURS = (("on-pale", 0.0, 0.4), ("on-middle", 0.4, 0.6), ("on-strong", 0.6, 1.0))
_DASHES = ([8, 4], [2, 4], [1, 7])


@dataclass(frozen=True, slots=True)
class Axis:
    """What is drawn along one direction: a field of the data, and how people read it."""

    field: str
    title: str
    log: bool = False
    zero: bool = False

    def encoding(self) -> Spec:
        scale: Spec = {"type": "log", "nice": False, "padding": LOG_PADDING} if self.log else {"zero": self.zero}
        axis: Spec = {"labelExpr": LABEL, "tickCount": 5}
        if self.log:
            axis["gridOpacity"] = {"condition": {"test": POWER_OF_TEN, "value": 1}, "value": 0.3}
        return {"field": self.field, "type": "quantitative", "title": self.title, "scale": scale, "axis": axis}

    def tooltip(self) -> Spec:
        return {"field": self.field, "type": "quantitative", "title": self.title, "format": NUMBER}


@dataclass(frozen=True, slots=True)
class Categories:
    """Words along the horizontal axis, in the order given."""

    field: str
    title: str
    labels: Sequence[str]

    def encoding(self) -> Spec:
        tilted = sum(len(label) + 2 for label in self.labels) > LABEL_ROOM
        axis = {"labelAngle": -35 if tilted else 0, "labelLimit": 120, "labelOverlap": False, "ticks": False}
        scale = {"domain": list(self.labels)}
        return {"field": self.field, "type": "ordinal", "title": self.title, "scale": scale, "axis": axis}

    def tooltip(self) -> Spec:
        return words(self.field, self.title)


@dataclass(frozen=True, slots=True)
class Legend:
    """The names of the series of a chart; ordered ones run along a ramp of colours."""

    title: str
    labels: Sequence[str]
    ordered: bool


@dataclass(frozen=True, slots=True)
class Shade:
    """Windows behind a curve: rows with `from`, `to` and `fault`, one colour per kind of fault."""

    data: str
    kinds: Sequence[str]

    def layers(self, behind_series: bool = False) -> list[Spec]:
        """The windows over the whole height, each with a stroke at its beginning, so that a short one is seen.

        `behind_series`: the colours of lines tell series apart, and those of windows are a scale of their own.
        """
        color = {
            "field": "fault", "type": "nominal", "title": "faults",
            "scale": {"domain": list(self.kinds), "range": "fault"},
            "legend": {
                "symbolType": "square", "symbolOpacity": 0.5, "orient": "bottom", "offset": 8,
                "columns": {"expr": f"max(1, floor(width / {KIND_ROOM}))"},
            },
        }  # fmt: skip
        area, edge = ({"fill": color}, {}) if behind_series else ({"color": color}, {"color": color})
        place: Spec = {"x": {"field": "from", "type": "quantitative"}}
        height: Spec = {"y": {"value": 0}, "y2": {"value": "height"}}
        data = {"name": self.data}
        return [
            {
                "data": data,
                "mark": {"type": "rect", "style": "fault"},
                "encoding": area | place | height | {"x2": {"field": "to"}},
            },
            {"data": data, "mark": {"type": "rule", "style": "fault-begins"}, "encoding": edge | place | height},
        ]


def words(field: str, title: str) -> Spec:
    """A line of a tooltip that is no number."""
    return {"field": field, "type": "nominal", "title": title}


def curve(
    data: str,
    x: Axis,
    y: Axis,
    *,
    color: Spec | None = None,
    band: bool = False,
    dots: bool = False,
    shade: Shade | None = None,
    also: Sequence[Axis] = (),
) -> Spec:
    """A line with a dot and a tooltip at the point nearest to the mouse; `band` shades from `lo` to `hi`.

    `color` is the channel that tells several lines apart, and a click on its legend dims the others; rows
    whose `y` is null are left out. `dots` shows all points, for lines that have only a few. With a `shade` behind
    them, rows have the words of the faults at their place in `faults`. `also`: further fields as broken lines, the
    more broken the later.
    """
    hover: Spec = {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"}
    tooltip = [x.tooltip(), y.tooltip()]
    encoding: Spec = {"x": _x(x), "y": _y(y)}
    line: Spec = {"mark": {"type": "line", "clip": True}}
    if color is None:
        hover["encodings"] = ["x"]
    else:
        if shade is None:
            encoding["color"] = color
        line["encoding"] = {"strokeOpacity": {"condition": {"test": PICKED, "value": 1}, "value": 0.12}}
        tooltip = [words(color["field"], color["title"]), *tooltip]
    if band:
        tooltip += [Axis("lo", "from").tooltip(), Axis("hi", "to").tooltip()]
    tooltip += [other.tooltip() for other in also]
    if shade is not None:
        tooltip.append(words("faults", "faults"))
    layers: list[Spec] = shade.layers(color is not None) if shade is not None else []
    if band:
        ends_encoding = {"y": {**_y(y), "field": "lo"}, "y2": {"field": "hi"}}
        layers.append({"mark": {"type": "area", "style": "band"}, "encoding": ends_encoding})
    for other, dash in zip(also, _DASHES, strict=False):
        mark = {"type": "line", "clip": True, "strokeDash": dash, "strokeWidth": 1.5}
        dimmed = {} if color is None else line["encoding"]
        layers.append({"mark": mark, "encoding": {"y": {**_y(y), "field": other.field}, **dimmed}})
    layers += [
        line,
        {
            "mark": {"type": "point", "filled": True, "size": 70},
            "params": [{"name": "hover", "select": hover}],
            "encoding": {
                "opacity": {"condition": {"param": "hover", "empty": False, "value": 1}, "value": int(dots)},
                "tooltip": tooltip,
            },
        },
    ]
    if color is not None and shade is not None:  # the windows must not inherit the channel of the series
        behind = len(shade.layers())
        layers = [*layers[:behind], {"layer": layers[behind:], "encoding": {"color": color}}]
    chart = _chart(data, layers, encoding, 280) | {"transform": [{"filter": f"isValid(datum.{y.field})"}]}
    return chart if color is None else chart | {"params": [PICK]}


def bars(data: str, category: str, title: str, value: Axis, rows: Sequence[Row], color: Spec | None = None) -> Spec:
    """Lying bars in the order of the rows, each with the text of its field `label` behind it."""
    largest = max((row[value.field] for row in rows), default=0.0) or 1.0
    length = 12 + 7 * max((len(row["label"]) for row in rows), default=0)
    room = {"zero": True, "domainMax": {"expr": f"{largest!r} * width / max(width - {length}, 50)"}, "nice": False}
    encoding: Spec = {
        "y": {"field": category, "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 170}},
        "x": {**value.encoding(), "scale": room, "axis": {"labelExpr": LABEL, "grid": True, "tickCount": 4}},
        "tooltip": [words(category, title), words("label", value.title)],
    }
    bar: Spec = {"mark": {"type": "bar", "height": {"band": 0.68}, "cornerRadiusEnd": 2}}
    if color is not None:
        bar["encoding"] = {"color": color}
    text: Spec = {"mark": {"type": "text", "align": "left", "dx": 6}, "encoding": {"text": {"field": "label"}}}
    return _chart(data, [bar, text], encoding, 34 * len(rows) + 10)


def columns(data: str, value: Axis, tooltip: Sequence[Spec], mean: float | None = None) -> Spec:
    """One standing bar per node, and a dashed line at `mean`."""
    encoding: Spec = {"x": _nodes("node", "Node"), "y": _y(value), "tooltip": list(tooltip)}
    return _chart(
        data, [{"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": encoding}, *_reference("y", mean)], {}, 260
    )


def histogram(data: str, title: str, what: str, mean: float | None = None) -> Spec:
    """Standing bars over intervals counted beforehand (see `binned`); `what` names the things counted."""
    encoding: Spec = {
        "x": {
            "field": "lo", "type": "quantitative", "bin": "binned", "title": title,
            "axis": {"labelExpr": LABEL, "grid": False, "tickCount": 6},
        },
        "x2": {"field": "hi"},
        "y": _y(Axis("count", f"Number of {what}", zero=True)),
    }  # fmt: skip
    counted = {"field": "count", "type": "quantitative", "title": what, "format": ","}
    tooltip = [Axis("lo", "from").tooltip(), Axis("hi", "to").tooltip(), counted]
    bar: Spec = {"mark": {"type": "bar", "binSpacing": 1}, "encoding": encoding | {"tooltip": tooltip}}
    return _chart(data, [bar, *_reference("x", mean)], {}, 260)


def matrix(data: str, title: str, tooltip: Sequence[Spec]) -> Spec:
    """Sender by receiver, coloured by `value`."""
    return {
        "data": {"name": data},
        "width": "container",
        "height": "container",
        "mark": {"type": "rect", "cornerRadius": 2, "tooltip": True},
        "encoding": {
            "x": _nodes("receiver", "Receiver"),
            "y": _nodes("sender", "Sender"),
            "color": {
                "field": "value", "type": "quantitative", "title": title, "scale": {"zero": True},
                "legend": GRADIENT,
            },
            "tooltip": list(tooltip),
        },
        "config": {"scale": {"bandPaddingInner": 0.08}},
    }  # fmt: skip


def heat_map(data: str, columns: Sequence[str], rows: int, most: int, tooltip: Sequence[Spec]) -> Spec:
    """Node by class, coloured by the root of `count`, so that few are told from none; with figures where they fit.

    `most`: the largest count. Of many classes the axis shows their numbers, and the tooltip has their names.
    """
    height = next(pixels for limit, pixels in ROW_PIXELS.items() if rows <= limit)
    is_named, is_tall = len(columns) <= NAMED_COLUMNS, height >= ROW_PIXELS[32]
    color: Spec = {
        "field": "count", "type": "quantitative", "title": "Samples", "scale": {"type": "sqrt", "zero": True},
        "legend": GRADIENT,
    }  # fmt: skip
    layers: list[Spec] = [{"mark": {"type": "rect"}, "encoding": {"color": color, "tooltip": list(tooltip)}}]
    if is_tall:
        text: Spec = {"type": "text", "fontSize": 11, "opacity": {"expr": f"+(width >= {FIGURE_ROOM * len(columns)})"}}
        layers += [
            {
                "mark": {**text, "style": style},
                "transform": [{"filter": f"datum.count > {low * low * most} && datum.count <= {high * high * most}"}],
                "encoding": {"text": {"field": "count", "type": "quantitative", "format": ".5~g"}},
            }
            for style, low, high in FIGURE_COLOURS
        ]
    encoding: Spec = {
        "x": _places("class", "Class", len(columns), columns if is_named else ()),
        "y": _places("node", "Node", rows),
    }
    gap = 0.06 if is_named and height >= ROW_PIXELS[64] else 0.0
    return _chart(data, layers, encoding, height * rows) | {"config": {"scale": {"bandPaddingInner": gap}}}


def ranges(data: str, x: Axis | Categories, y: Axis, color: Spec | None) -> Spec:
    """Dots, and through each dot a stroke from `lo` to `hi`: the median and range of several runs.

    Along numbers the dots are joined by lines; at a category the dots of several series stand side by side.
    """
    encoding: Spec = {"x": _x(x) if isinstance(x, Axis) else x.encoding(), "y": _y(y)}
    encoding["y"]["scale"] |= {"padding": 12}
    if isinstance(x, Axis):
        encoding["x"]["scale"] |= {"padding": 16, "nice": False}
    elif color is not None:
        encoding["xOffset"] = {"field": color["field"], "type": "nominal", "scale": color["scale"]}
    tooltip = [x.tooltip(), y.tooltip(), Axis("lo", "lowest").tooltip(), Axis("hi", "highest").tooltip()]
    tooltip.append({"field": "runs", "type": "quantitative", "title": "runs"})
    if color is not None:
        encoding |= {"color": color, "opacity": {"condition": {"test": PICKED, "value": 1}, "value": 0.12}}
        tooltip = [words(color["field"], color["title"]), *tooltip]
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "style": "range"},
            "encoding": {"y": {**encoding["y"], "field": "lo"}, "y2": {"field": "hi"}},
        },
        *([{"mark": "line"}] if isinstance(x, Axis) else []),
        {"mark": {"type": "point", "filled": True, "size": 90}, "encoding": {"tooltip": tooltip}},
    ]
    return _chart(data, layers, encoding, 300) | {"params": [PICK]}


def series_color(legend: Legend) -> Spec:
    """The channel that tells series apart by their field `group`; the page draws its legend."""
    return {
        "field": "group",
        "type": "ordinal" if legend.ordered else "nominal",
        "title": legend.title,
        "scale": {"domain": list(legend.labels)},
        "legend": None,
    }


def binned(values: ArrayLike, bins: int = BINS) -> list[dict[str, float]]:
    """Equal intervals and how many of the values are in each; values equal up to rounding share a single one."""
    array = np.asarray(values, np.float64)
    counts, edges = np.histogram(array, 1 if all_equal(array) else bins)
    return [
        {"lo": float(lo), "hi": float(hi), "count": int(count)}
        for lo, hi, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def all_equal(values: ArrayLike) -> bool:
    """Whether values differ by no more than the rounding of single precision."""
    array = np.asarray(values, np.float64)
    return bool(np.ptp(array) <= 1e-6 * np.abs(array).max())


def short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def suits_log(values: Sequence[float]) -> bool:
    """Whether a log axis helps: all positive, and more than a factor of two apart."""
    return bool(values) and min(values) > 0 and max(values) > 2 * min(values)


def _chart(data: str, layers: list[Spec], encoding: Spec, height: int) -> Spec:
    return {"data": {"name": data}, "width": "container", "height": height, "encoding": encoding, "layer": layers}


def _x(axis: Axis) -> Spec:
    encoding = axis.encoding()
    encoding["axis"] |= {"tickCount": 6, "labelOverlap": True}
    return encoding


def _y(axis: Axis) -> Spec:
    """A vertical axis with its title written above it, so that nobody tilts the head."""
    encoding = axis.encoding()
    encoding["axis"] |= {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleBaseline": "bottom"}
    encoding["axis"] |= {"titleX": 0, "titleY": -12}
    return encoding


def _nodes(field: str, title: str) -> Spec:
    axis = {"labelOverlap": "greedy", "labelAngle": 0, "ticks": False, "domain": False}
    return {"field": field, "type": "ordinal", "title": title, "axis": axis}


def _places(field: str, title: str, count: int, names: Sequence[str] = ()) -> Spec:
    """Places from 0 on, each with its name, or some of them with their number."""
    step = next(step for most, step in LABEL_STEPS.items() if count <= most)
    axis: Spec = {"values": [*range(0, count, step)], "labelAngle": 0, "ticks": False, "domain": False}
    if names:
        axis |= {"values": [*range(count)], "labelAngle": -35, "labelLimit": 110}
        axis["labelExpr"] = f"{json.dumps(list(names))}[datum.value]"
    else:
        axis |= {"labelOverlap": "parity", "labelSeparation": 3}
    scale = {"domain": [*range(count)]}
    return {"field": field, "type": "ordinal", "title": title, "axis": axis, "scale": scale}


def _reference(channel: str, value: float | None) -> list[Spec]:
    if value is None:
        return []
    return [{"mark": {"type": "rule", "style": "reference"}, "encoding": {channel: {"datum": value}}}]
