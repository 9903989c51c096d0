"""How the run went: objective, consensus distance, metrics and coverage over iterations, seconds or bytes."""

from collections.abc import Mapping, Sequence

import numpy as np

from orchestrator.number_words import byte_unit, number
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.fault_shading import FaultShading
from orchestrator.report.vega import Axis, Row, all_equal, binned, curve, histogram, suits_log
from orchestrator.results.files import finite
from orchestrator.results.read import RunData, Summary
from orchestrator.results.tables import Records
from pame.observe import Evaluation

POINTS_SHOWN = 1000
COVERAGE_BINS = 200
FEW_POINTS = 8
NO_CLOCK = "no time model in this run"
_OWN = "Broken: the mean over the nodes of the same at their own models."


def x_switch(run: RunData) -> Switch:
    """The buttons that choose what runs along the horizontal axis of the curves."""
    options = {"iteration": "Iterations", "seconds": seconds_words(run.summary.word("backend")), "bytes": "Bytes"}
    timed = any(point.seconds is not None for point in run.curve)
    return Switch("x", "Horizontal axis", options, {} if timed else {"seconds": NO_CLOCK})


def seconds_words(backend: str) -> str:
    """Seconds of the simulator are not seconds of a clock on the wall, and a report says so."""
    return "Simulated seconds" if backend == "simulate" else "Seconds"


def curves(run: RunData, shades: FaultShading) -> list[Chart]:
    """Objective (and its distance to the optimum), consensus distance, and one figure per metric."""
    if not run.curve:
        return []
    names = list(dict.fromkeys(name for point in run.curve for name in point.metrics))
    names.sort(key=lambda name: name != run.summary.metric)
    series = {
        "iteration": thinned([point for point in run.curve if point.by == "iteration"]),
        "time": thinned([point for point in run.curve if point.by != "iteration"]),
    }
    optimum = run.summary.optimum
    columns: dict[str, list[tuple[str, str]]] = {"objective": [("f", "f(mean model)")]}
    if optimum is not None:
        columns["objective"].append(("gap", "f(mean model) − f*"))
    columns["consensus"] = [("c", "Consensus distance")]
    for index, name in enumerate(names):
        columns[f"metric-{index}"] = [(f"m{index}", name)]
    also = _also(run, names)
    raw = {by: _raw(points, optimum, names) for by, points in series.items()}
    log = {
        field: _log_axis(
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
        title, note = _words(key, choices, run, [log[field] for field in used])
        shape = "wide" if key == "objective" else "half"
        figures.append(Chart(key, title, note, specs, data, switches, own, shape=shape))
    return figures


def _raw(points: Sequence[Evaluation], optimum: float | None, names: Sequence[str]) -> dict[str, list[float | None]]:
    """By field: what is drawn of the points."""

    def gaps(values: list[float | None]) -> list[float | None]:
        return [None if optimum is None or value is None else value - optimum for value in values]

    own = [point.own for point in points]
    f: list[float | None] = [point.objective for point in points]
    mean, worst = [one.objective if one else None for one in own], [one.worst if one else None for one in own]
    found = {"f": f, "f-own": mean, "f-worst": worst, "gap": gaps(f), "gap-own": gaps(mean), "gap-worst": gaps(worst)}
    found["c"] = [point.consensus for point in points]
    for index, name in enumerate(names):
        found[f"m{index}"] = [point.metrics.get(name) for point in points]
        found[f"m{index}-own"] = [one.metrics.get(name) if one else None for one in own]
        found[f"m{index}-low"] = [one.lowest.get(name) if one else None for one in own]
        found[f"m{index}-high"] = [one.highest.get(name) if one else None for one in own]
    return {field: list(map(finite, values)) for field, values in found.items()}


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


def coverage(run: RunData, shades: FaultShading) -> list[Chart]:
    """Coverage over iterations, with the middle 80 % of the nodes, and how it is distributed."""
    records = run.records
    shade = shades.on("iteration")
    behind = {name: rows for name, rows in shades.data().items() if shade is not None and name == shade.data}
    if records is None or records.coverage.size == 0:
        rows: list[Row] = [
            {"iteration": point.iteration, "y": _short(point.coverage), **_faults(point.iteration, shades)}
            for point in thinned([p for p in run.curve if p.by == "iteration" and p.coverage is not None])
        ]
        if not rows:
            return []
        spec = curve(
            "coverage",
            Axis("iteration", "Iteration"),
            Axis("y", "Mean λ per coordinate"),
            dots=len(rows) <= FEW_POINTS,
            shade=shade,
        )
        return [
            Chart(
                "coverage",
                "Coverage over iterations",
                "Mean over nodes and coordinates.",
                {"": spec},
                {"coverage": rows} | behind,
            )
        ]
    rows = [{**row, **_faults(row["iteration"], shades)} for row in _coverage_rows(records)]
    spec = curve(
        "coverage",
        Axis("iteration", "Iteration"),
        Axis("y", "Mean λ per coordinate", zero=True),
        band=True,
        dots=len(rows) <= FEW_POINTS,
        shade=shade,
    )
    steady = _steady(records, run.summary)
    over_iterations = Chart(
        "coverage", "Coverage over iterations",
        "How many received messages carry a coordinate, averaged over coordinates, at the rounds of all nodes; "
        f"the band holds the middle 80 % of them.{steady}",
        {"": spec}, {"coverage": rows} | behind,
    )  # fmt: skip
    if steady:
        return [over_iterations]
    mean = float(records.coverage.mean())
    spread = histogram("coverage-spread", "Mean λ per coordinate", "rounds", mean)
    return [
        over_iterations,
        Chart(
            "coverage-spread", "Distribution of coverage",
            f"Every round of every node: {number(records.coverage.size)} rounds. Dashed: the mean, {number(mean)}.",
            {"": spread}, {"coverage-spread": binned(records.coverage)},
        ),
    ]  # fmt: skip


def thinned(points: Sequence[Evaluation], most: int = POINTS_SHOWN) -> list[Evaluation]:
    """At most `most` of the points, evenly spaced, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    return [points[index] for index in np.linspace(0, len(points) - 1, most).round().astype(int)]


def _steady(records: Records, summary: Summary) -> str:
    """The sentence that replaces the distribution of coverage when all rounds had the same, else nothing."""
    if not all_equal(records.coverage):
        return ""
    complete = all(summary.messages.get(fate) == 0 for fate in ("late", "evicted", "lost", "starved"))
    complete = complete and not any(summary.messages.get(fate) for fate in ("dropped", "queued"))
    reason = ": no message was missing" if complete else ""
    return f" Every round had coverage {number(float(records.coverage[0]))}{reason}."


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
            "seconds": _short(point.seconds),
            "volume": _short(point.bytes / size),
        }
        | {field: _drawn(values[index], log[field]) for field, values in raw.items()}
        | ({"faults": shades.at(point.iteration, point.seconds, point.by != "iteration")} if shades.any else {})
        for index, point in enumerate(points)
    ]


def _faults(iteration: float | None, shades: FaultShading) -> Row:
    return {"faults": shades.at(iteration, None, by_time=False)} if shades.any else {}


def _drawn(value: float | None, log: bool) -> float | None:
    return None if value is None or (log and value <= 0) else _short(value)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _source(series: dict[str, list[Evaluation]], x: str) -> str:
    wanted, other = ("time", "iteration") if x == "seconds" else ("iteration", "time")
    return wanted if series[wanted] else other


def _x_axes(run: RunData, unit: str) -> dict[str, Axis]:
    axes = {"iteration": Axis("iteration", "Iteration"), "bytes": Axis("volume", f"Transmitted by all nodes ({unit})")}
    if any(point.seconds is not None for point in run.curve):
        axes["seconds"] = Axis("seconds", f"{seconds_words(run.summary.word('backend'))} (s)")
    return axes


def _words(key: str, choices: Sequence[tuple[str, str]], run: RunData, log: Sequence[bool]) -> tuple[str, str]:
    if key == "objective":
        note = "The objective at the mean of all models."
        if any(point.own for point in run.curve):
            note += f" {_OWN} Dotted: the worst node."
        if run.summary.optimum is not None:
            how = f": {run.summary.optimum_how}" if run.summary.optimum_how else "."
            note += f" Optimum f* = {number(run.summary.optimum)}{how}"
        return "Objective", note
    if key == "consensus":
        zeros = (
            " Exact zeros have no place on a log axis." if log[0] and any(p.consensus == 0 for p in run.curve) else ""
        )
        return "Consensus distance", f"How far the nodes' models are from their mean.{zeros}"
    name = choices[0][1]
    own = f" {_OWN} Dotted: the lowest and the highest node." if any(point.own for point in run.curve) else ""
    headline = "The headline metric of this run, at" if name == run.summary.metric else "At"
    return name, f"{headline} the mean of all models.{own}"


def _coverage_rows(records: Records) -> list[Row]:
    iteration, value = records.coverage_iteration, records.coverage
    distinct = np.unique(iteration)
    edges = (
        distinct if distinct.size <= COVERAGE_BINS else np.linspace(distinct[0], distinct[-1], COVERAGE_BINS + 1)[:-1]
    )
    group = np.searchsorted(edges, iteration, side="right") - 1
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    rows: list[Row] = []
    for members in np.split(order, starts[1:]):
        lo, hi = np.quantile(value[members], [0.1, 0.9])
        rows.append(
            {
                "iteration": _short(float(iteration[members].mean())),
                "y": _short(float(value[members].mean())),
                "lo": _short(float(lo)),
                "hi": _short(float(hi)),
            }
        )
    return rows
