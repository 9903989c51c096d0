"""The tables of a campaign: those of a sweep's runs below each other, or the rows that a comparison has kept."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.exports.column_table import ColumnTable, stacked, table_of
from orchestrator.exports.run_tables import LABELS, RUN_TABLES, gap_of
from orchestrator.results.campaign_record import ROWS, read_record
from orchestrator.results.files import ReportError, finite, json_lines, mapping, read_object, reading
from orchestrator.results.read import is_run

TUNING = "tuning"
"""Stages of a comparison whose name begins so are not what is compared."""
_ENDED = ("stage", "backend", "seed", "status", "reason", "health", "health_reason", "cpu_bound")
_POINT = ("iteration", "rounds", "bytes", "seconds", "objective", "f_star", "gap", "left")
_START, _BEST = "start", "best"
"""f at the start and at the optimum, as comparisons keep them."""


def is_sweep(folder: Path) -> bool:
    return (folder / "sweep.json").is_file()


def is_campaign(folder: Path) -> bool:
    return not is_sweep(folder) and read_record(folder) is not None and (folder / ROWS).is_file()


def members(folder: Path) -> list[tuple[Path, Mapping[str, Any]]]:
    """The run folders of a sweep that are there, with what the sweep chose for each, by dotted key."""
    runs = [mapping(run) for run in read_object(folder / "sweep.json").get("runs") or []]
    found = [(folder / str(run.get("folder")), dict(_dotted(mapping(run.get("values"))))) for run in runs]
    there = [(path, values) for path, values in found if path.resolve().is_relative_to(folder.resolve())]
    with reading(folder):
        return [(path, values) for path, values in there if is_run(path)]


def sweep_table(folder: Path, name: str) -> ColumnTable:
    """A table of `RUN_TABLES` of all runs; what was swept is labels, too."""
    tables = []
    for path, values in members(folder):
        table = RUN_TABLES[name](path)
        labels = {label: table.columns[label] for label in LABELS if label in table.columns}
        swept = {key: value for key, value in values.items() if key not in labels}
        rest = {key: values for key, values in table.columns.items() if key not in {**labels, **swept}}
        tables.append(ColumnTable({**labels, **ColumnTable(rest).labelled(**swept).columns}))
    return stacked(tables)


def points_table(folder: Path, tuning: bool = False) -> ColumnTable:
    """A comparison or study as one tidy table: a row per point of every run that was kept.

    `tuning`: the runs that chose settings, instead of those that are compared. `left` is (f - f*) / (f(0) - f*).
    """
    rows = [
        {**labels, **_of_point(mapping(point), mapping(line.get("figures")))}
        for line, labels in _lines(folder, tuning)
        for point in line.get("curve") or ()
    ]
    return _ordered(rows, _POINT)


def ends_table(folder: Path, tuning: bool = False) -> ColumnTable:
    """A row per run that was kept: how it ended, its last point, and what its campaign measured."""
    rows = []
    for line, labels in _lines(folder, tuning):
        figures, curve = mapping(line.get("figures")), line.get("curve") or [{}]
        measured = {name: value for name, value in figures.items() if not isinstance(value, dict | list)}
        told = {name: line.get(name) for name in _ENDED[1:]}
        rows.append({**labels, **told, **measured, **_of_point(mapping(curve[-1]), figures)})
    return _ordered(rows, (*_ENDED, *_POINT))


def _lines(folder: Path, tuning: bool) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    if not (folder / ROWS).is_file():
        raise ReportError(f"{folder} holds no campaign: give the folder of a comparison, a study or the claims.")
    with reading(folder):
        for line in json_lines(folder / ROWS):
            if str(line.get("stage")).startswith(TUNING) is tuning:
                told = {name: line.get(name) for name in ("stage", "backend", "seed")}
                labels = dict(_dotted(mapping(line.get("labels"))))
                yield line, {**told, **labels, "status": line.get("status")}


def _of_point(point: Mapping[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    f, start, best = (finite(value) for value in (point.get("objective"), figures.get(_START), figures.get(_BEST)))
    gap = gap_of(f, best)
    way = gap_of(start, best)
    told = {name: point.get(name) for name in ("iteration", "rounds", "bytes", "seconds")}
    more = {"objective": f, "f_star": best, "gap": gap, "left": gap / way if gap is not None and way else None}
    return {**told, **more, **mapping(point.get("metrics"))}


def _ordered(rows: Sequence[Mapping[str, Any]], points: Sequence[str]) -> ColumnTable:
    """Labels, then the figures that all have, then the others."""
    names = dict.fromkeys(name for row in rows for name in row)
    others = [name for name in names if name not in points]
    labels = others[: others.index("status") + 1] if "status" in others else others
    return table_of(rows, [*labels, *(name for name in points if name not in labels)])


def _dotted(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Sections as their keys; of `values`, what was tuned, the dotted keys that they are already."""
    for key, value in values.items():
        if isinstance(value, dict):
            above = "" if key == "values" else f"{key}."
            yield from _dotted({f"{above}{inner}": part for inner, part in value.items()})
        else:
            yield key, str(value) if isinstance(value, list) else value
