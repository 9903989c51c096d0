"""How the run went: objective, consensus distance and metrics over iterations, seconds or bytes."""

from collections.abc import Mapping, Sequence

import numpy as np

from orchestrator.number_words import byte_unit, is_share, metric_title, number
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.fault_shading import FaultShading
from orchestrator.report.vega import Axis, Row, curve, short, suits_log
from orchestrator.results.files import finite
from orchestrator.results.read import RunData
from pame.observe import Evaluation

POINTS_SHOWN = 1000
FEW_POINTS = 8
NO_CLOCK = "no time model in this run"
_OWN = "Broken: the mean over the nodes of the same at their own models."


def x_switch(run: RunData) -> Switch:
    """The buttons that choose what runs along the horizontal axis of the curves; the first is what is shown at first.

    Where most faults go by the clock, that is the clock.
    """
    options = {"iteration": "Iterations", "seconds": seconds_words(run.summary.backend), "bytes": "Bytes"}
    timed = any(point.seconds is not None for point in run.curve)
    if timed and run.faults is not None and run.faults.go_by_the_clock:
        options = {"seconds": options.pop("seconds"), **options}
    return Switch("x", "Horizontal axis", options, {} if timed else {"seconds": NO_CLOCK})


def seconds_words(backend: str) -> str:
    """Seconds of the simulator are not seconds of a clock on the wall, and a report says so."""
    return "Simulated seconds" if backend == "simulate" else "Seconds"


def curves(run: RunData, shades: FaultShading) -> list[Chart]:
    """Objective (and its distance to the optimum), consensus distance, and one figure per metric.

    An accuracy comes first where nobody knows the optimum.
    """
    if not run.curve:
        return []
    names = list(dict.fromkeys(name for point in run.curve for name in point.metrics))
    names.sort(key=lambda name: name != run.summary.metric)
    series = {
        "iteration": thinned([point for point in run.curve if point.by == "iteration"]),
        "time": thinned([point for point in run.curve if point.by != "iteration"]),
    }
    optimum = run.summary.least
    columns: dict[str, list[tuple[str, str]]] = {"objective": [("f", "f(mean model)")]}
    if optimum is not None:
        columns["objective"].append(("gap", "f(mean model) − f*"))
    columns["consensus"] = [("c", "Consensus distance")]
    for index, name in enumerate(names):
        columns[f"metric-{index}"] = [(f"m{index}", f"{metric_title(name)}{' (%)' * is_share(name)}")]
    first = "metric-0" if names and is_share(names[0]) and optimum is None else "objective"
    columns = {first: columns.pop(first), **columns}
    shares = {f"m{index}" for index, name in enumerate(names) if is_share(name)}
    also = _also(run, names)
    raw = {by: _raw(points, optimum, names) for by, points in series.items()}
    log = {
        field: field.partition("-")[0] not in shares
        and _log_axis(
            [v for by in raw for part in _drawn_together(field, also) for v in raw[by][part] if v is not None],
            strict=field in ("f",),
        )
        for field in raw["time"]
    }
    unit, size = byte_unit(max((point.bytes for point in run.curve), default=0))
    data = {f"by-{by}": _rows(points, raw[by], log, size, shades) for by, points in series.items()} | shades.data(size)
    axes = _x_axes(run, unit)
    figures = []
    for key, choices in columns.items():
        specs, own = {}, None
        if len(choices) > 1:
            own = Switch("y", "Vertical axis", dict(choices))
        for x, axis in axes.items():
            source = _source(series, x)
            for field, title in choices:
                few = len(series[source]) <= FEW_POINTS
                y, beside = Axis(field, title, log[field]), also.get(field, ())
                spec = curve(f"by-{source}", axis, y, dots=few, shade=shades.on(x), also=beside)
                specs[f"{x}|{field}" if own else x] = spec
        used = [field for field, _ in choices]
        switches = ("x", "y") if own else ("x",)
        title, note = _words(key, names, run, [log[field] for field in used])
        shape = "wide" if key == first else "half"
        figures.append(Chart(key, title, note, specs, data, switches, own, shape=shape))
    return figures


def _raw(points: Sequence[Evaluation], optimum: float | None, names: Sequence[str]) -> dict[str, list[float | None]]:
    own = [point.own for point in points]
    f: list[float | None] = [point.objective for point in points]
    mean, worst = [one.objective if one else None for one in own], [one.worst if one else None for one in own]
    found = {"f": f, "f-own": mean, "f-worst": worst}
    if optimum is not None:
        above = {"gap": f, "gap-own": mean, "gap-worst": worst}
        found |= {name: [None if v is None else v - optimum for v in values] for name, values in above.items()}
    found["c"] = [point.consensus for point in points]
    for index, name in enumerate(names):
        found[f"m{index}"] = _as_read(name, [point.metrics.get(name) for point in points])
        found[f"m{index}-own"] = _as_read(name, [one.metrics.get(name) if one else None for one in own])
        found[f"m{index}-low"] = _as_read(name, [one.lowest.get(name) if one else None for one in own])
        found[f"m{index}-high"] = _as_read(name, [one.highest.get(name) if one else None for one in own])
    return {field: list(map(finite, values)) for field, values in found.items()}


def _as_read(metric: str, values: list[float | None]) -> list[float | None]:
    """Shares in percent."""
    return [None if value is None else 100 * value for value in values] if is_share(metric) else values


def _also(run: RunData, names: Sequence[str]) -> dict[str, list[Axis]]:
    """By field: the broken lines beside it, where the nodes' own models were judged."""
    if all(point.own is None for point in run.curve):
        return {}
    found = {
        "f": [Axis("f-own", "nodes' own models, mean"), Axis("f-worst", "worst node")],
        "gap": [Axis("gap-own", "nodes' own models, mean"), Axis("gap-worst", "worst node")],
    }
    for index, _ in enumerate(names):
        fields = ("own", "nodes' own models, mean"), ("low", "lowest node"), ("high", "highest node")
        found[f"m{index}"] = [Axis(f"m{index}-{end}", words) for end, words in fields]
    return found


def _drawn_together(field: str, also: Mapping[str, Sequence[Axis]]) -> list[str]:
    """The fields of the chart in which a field is: all of them have the same axis."""
    main = field.partition("-")[0]
    return [main, *(axis.field for axis in also.get(main, ()))]


def thinned(points: Sequence[Evaluation], most: int = POINTS_SHOWN) -> list[Evaluation]:
    """At most `most` of the points, evenly spaced, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    return [points[index] for index in np.linspace(0, len(points) - 1, most).round().astype(int)]


def _log_axis(values: Sequence[float], strict: bool) -> bool:
    """Distances may reach an exact zero, which a log axis leaves out; an objective that does is drawn linearly."""
    return suits_log(values if strict else [value for value in values if value > 0])


def _rows(
    points: Sequence[Evaluation],
    raw: dict[str, list[float | None]],
    log: dict[str, bool],
    size: int,
    shades: FaultShading,
) -> list[Row]:
    return [
        {
            "iteration": point.iteration,
            "seconds": short(point.seconds),
            "volume": short(point.bytes / size),
        }
        | {field: _drawn(values[index], log[field]) for field, values in raw.items()}
        | ({"faults": shades.at(point.iteration, point.seconds, point.by != "iteration")} if shades.any else {})
        for index, point in enumerate(points)
    ]


def _drawn(value: float | None, log: bool) -> float | None:
    return None if value is None or (log and value <= 0) else short(value)


def _source(series: dict[str, list[Evaluation]], x: str) -> str:
    wanted, other = ("time", "iteration") if x == "seconds" else ("iteration", "time")
    return wanted if series[wanted] else other


def _x_axes(run: RunData, unit: str) -> dict[str, Axis]:
    axes = {"iteration": Axis("iteration", "Iteration"), "bytes": Axis("volume", f"Transmitted by all nodes ({unit})")}
    if any(point.seconds is not None for point in run.curve):
        axes["seconds"] = Axis("seconds", f"{seconds_words(run.summary.backend)} (s)")
    return axes


def _words(key: str, names: Sequence[str], run: RunData, log: Sequence[bool]) -> tuple[str, str]:
    if key == "objective":
        note = "The objective at the mean of all models."
        if any(point.own for point in run.curve):
            note += f" {_OWN} Dotted: the worst node."
        optimum = run.summary.optimum
        if optimum is not None and optimum.objective is not None:
            how = f": {optimum.how}" if optimum.how else "."
            note += f" Optimum f* = {number(optimum.objective)}{how}"
        return "Objective", note
    if key == "consensus":
        zeros = (
            " Exact zeros have no place on a log axis." if log[0] and any(p.consensus == 0 for p in run.curve) else ""
        )
        return "Consensus distance", f"How far the nodes' models are from their mean.{zeros}"
    name = names[int(key.partition("-")[2])]
    own = f" {_OWN} Dotted: the lowest and the highest node." if any(point.own for point in run.curve) else ""
    headline = "The headline metric of this run, at" if name == run.summary.metric else "At"
    return metric_title(name), f"{headline} the mean of all models.{own}"
