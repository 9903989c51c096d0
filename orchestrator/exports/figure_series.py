"""The lines of a figure: curves of runs; those that differ in nothing but their seed are one, a median and a range."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.algorithm_names import algorithm_name, setting_value
from orchestrator.exports.campaign_tables import is_campaign, is_sweep, members, points_table
from orchestrator.exports.column_table import ColumnTable, plain
from orchestrator.exports.run_tables import LABELS, curve_table, summary_of
from orchestrator.report.fault_shading import shades
from orchestrator.report.sweep import middle
from orchestrator.results.fault_axes import course
from orchestrator.results.fault_history import read_faults
from orchestrator.results.files import read_yaml, reading
from orchestrator.results.points import read_curve
from orchestrator.results.tables import Floats
from pame.errors import PameError

X_AXES = ("iteration", "seconds", "bytes", "rounds")
_NO_SETTINGS = ("seed", "name", "stage", "status", "backend", "run")
"""Labels of a campaign's rows that are no setting; `backend` is one where it differs."""
Where = Mapping[str, Sequence[str]]
"""By setting: the values that are shown."""
_VIEW, _AS_PUBLISHED = "view", "as-published"
_NAMED_SETTINGS = 2
"""A line is called by so many settings at most; if more differ, by its place."""


class FigureRefused(PameError):
    """A figure cannot be drawn as asked."""


@dataclass(frozen=True, slots=True)
class ShadedWindow:
    begin: float
    end: float
    fault: str


@dataclass(frozen=True)
class DrawnRun:
    """Of one run: what tells it from others, and its points."""

    name: str
    settings: Mapping[str, Any]
    seed: Any
    x: Floats
    y: Floats
    windows: tuple[ShadedWindow, ...] = ()
    plan: str = ""
    """Its faults as planned."""
    is_simulated: bool = False


@dataclass(frozen=True)
class FigureLine:
    """The runs that differ in nothing but their seed."""

    label: str
    x: Floats
    y: Floats
    low: Floats
    high: Floats
    runs: int


def curves_of(folders: Iterable[Path], x: str, y: str, where: Where) -> list[DrawnRun]:
    """The runs in some folders that are as `where` says; FigureRefused if there are none, or no such column.

    Of a comparison with several views, those as published, if `where` says nothing else.
    """
    if x not in X_AXES:
        raise FigureRefused(f"there is no axis {x!r}: choose one of {', '.join(X_AXES)}")
    found: list[DrawnRun] = []
    for folder in folders:
        if is_campaign(folder):
            found += _kept(folder, x, y, where)
            continue
        runs = [path for path, _ in members(folder)] if is_sweep(folder) else [folder]
        found += [curve for path in runs if (curve := _left(path, x, y, where)) is not None]
    if not found:
        asked = ", ".join(f"{key}={value}" for key, values in where.items() for value in values)
        raise FigureRefused(f"no run has {asked}: leave that out, or look at the columns with `pame export`")
    if all(not curve.x.size for curve in found):
        raise FigureRefused(f"no run has points with both {x} and {y}: choose another --x or --y")
    return found


def lines_of(curves: Sequence[DrawnRun], labels: Sequence[str] = ()) -> list[FigureLine]:
    """One for all seeds of the same settings, in the order given; `labels`: what they are to be called."""
    groups: dict[str, list[DrawnRun]] = {}
    for curve in curves:
        groups.setdefault(repr(sorted(curve.settings.items(), key=str)), []).append(curve)
    if labels and len(labels) != len(groups):
        raise FigureRefused(f"there are {len(groups)} lines and {len(labels)} labels: give a label for each line")
    names = labels or line_names([group[0] for group in groups.values()])
    found = []
    for name, group in zip(names, groups.values(), strict=True):
        place, mid, low, high = middle([(curve.x, curve.y) for curve in group])
        found.append(FigureLine(name, place, mid, low, high, len(group)))
    return found


def shared_windows(curves: Sequence[DrawnRun]) -> tuple[ShadedWindow, ...]:
    """Those of the first run, if all had the same plan; else nobody could tell whose they are."""
    return curves[0].windows if len({curve.plan for curve in curves}) == 1 else ()


def line_names(curves: Sequence[DrawnRun]) -> list[str]:
    """The algorithm if it tells all apart, else the experiment, and the settings in which those of one name differ."""
    kinds = [str(curve.settings.get("algorithm.kind", curve.settings.get("algorithm", ""))) for curve in curves]
    if len(set(kinds)) == len(curves) and all(kinds):
        return list(map(algorithm_name, kinds))
    names = [_named(curve, [other for other in curves if other.name == curve.name]) for curve in curves]
    if len({curve.name for curve in curves}) == 1 and all(", " in name for name in names):
        names = [name.partition(", ")[2] for name in names]
    return names if len(set(names)) == len(names) else [f"{name} {place}" for place, name in enumerate(names, 1)]


def _named(curve: DrawnRun, alike: Sequence[DrawnRun]) -> str:
    """By its experiment, and by what tells it from others of that name."""
    keys = dict.fromkeys(key for other in alike for key in other.settings)
    differ = {key: curve.settings.get(key) for key in keys if len({str(one.settings.get(key)) for one in alike}) > 1}
    return f"{curve.name}, {_words(differ)}" if 0 < len(differ) <= _NAMED_SETTINGS else curve.name


def _left(folder: Path, x: str, y: str, where: Where) -> DrawnRun | None:
    """Of a run folder; None: it is not what is asked for."""
    summary, table = summary_of(folder), curve_table(folder)
    with reading(folder):
        file = folder / "experiment.yaml"
        asked = read_yaml(file.read_text(encoding="utf-8") if file.is_file() else "")
        points = read_curve(folder)
        faults = read_faults(folder, summary.faults)
    settings = dict(_flat({**asked, "backend": summary.backend}))
    if not _is_asked({**settings, "run": folder.name, "algorithm": summary.algorithm}, where):
        return None
    spans = shades(faults, course(points, summary.seconds, summary.iterations)).spans.get(x, ())
    windows = tuple(ShadedWindow(begin, end, spell.fault) for spell, (begin, end) in spans)
    plan = repr([(s.words, s.begin, s.end) for s in faults.spells] if faults else [])
    name, seed = str(settings.pop("name", folder.name)), settings.pop("seed", None)
    xs, ys = _points(_of_axis(table, x), x, y, folder)
    return DrawnRun(name, settings, seed, xs, ys, windows, plan, summary.is_simulated)


def _kept(folder: Path, x: str, y: str, where: Where) -> Iterator[DrawnRun]:
    """Of a comparison or study: its rows, a curve for each run."""
    table = points_table(folder)
    if _VIEW not in where and _AS_PUBLISHED in table.columns.get(_VIEW, ()):
        where = {**where, _VIEW: [_AS_PUBLISHED]}
    names = list(table.columns)
    labels = names[: names.index("status")] if "status" in names else []
    keys = [tuple(plain(table.columns[name][row]) for name in labels) for row in range(len(table))]
    for key in dict.fromkeys(keys):
        told = dict(zip(labels, key, strict=True))
        if not _is_asked(told, where):
            continue
        chosen = table.where(np.array([other == key for other in keys], np.bool_))
        settings = {name: value for name, value in told.items() if name not in _NO_SETTINGS and "." not in name}
        settings = {name: value for name, value in settings.items() if (name, value) != (_VIEW, _AS_PUBLISHED)}
        xs, ys = _points(chosen, x, y, folder)
        if xs.size and not np.ptp(xs):  # what exchanges nothing has neither rounds nor bytes
            continue
        is_simulated = told.get("backend") == "simulate"
        yield DrawnRun(
            _words(settings), {**settings, "backend": told.get("backend")}, told.get("seed"), xs, ys,
            is_simulated=is_simulated,
        )  # fmt: skip


def _of_axis(table: ColumnTable, x: str) -> ColumnTable:
    """The curve by time along seconds, else that by iteration; the other where there is only one."""
    is_by_time = np.array(table.columns["by"] == "time", np.bool_).reshape(-1)
    wanted = is_by_time if x == "seconds" else ~is_by_time
    return table.where(wanted if wanted.any() else ~wanted) if len(table) else table


def _points(table: ColumnTable, x: str, y: str, folder: Path) -> tuple[Floats, Floats]:
    for name in (x, y):
        column = table.columns.get(name)
        if column is None or column.dtype.kind not in "if":
            raise FigureRefused(f"{folder.name} has no figures {name!r}: choose one of {', '.join(_figures(table))}")
    xs, ys = (table.columns[name].astype(np.float64) for name in (x, y))
    known = np.isfinite(xs) & np.isfinite(ys)
    return xs[known], ys[known]


def _figures(table: ColumnTable) -> list[str]:
    """Columns that can be drawn."""
    numbers = (name for name, values in table.columns.items() if values.dtype.kind in "if" and name not in LABELS)
    return [name for name in numbers if np.isfinite(table.columns[name].astype(np.float64)).any()]


def _is_asked(told: Mapping[str, Any], where: Where) -> bool:
    return all(str(told.get(key)) in values for key, values in where.items())


def _words(settings: Mapping[str, Any]) -> str:
    """A value alone says what it is if it is a word."""
    parts = [
        setting_value(key, value) if isinstance(value, str) else f"{key.rpartition('.')[2]} = {value}"
        for key, value in settings.items()
        if value is not None
    ]
    return ", ".join(parts)


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value
