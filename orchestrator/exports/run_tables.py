"""The tables of a run folder: points of the curves, records, links, events, windows of faults, the summary in a row.

Every table begins with the labels of its run, so that those of several runs can stand below each other.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.exports.column_table import ColumnTable, table_of
from orchestrator.results.fault_history import read_faults
from orchestrator.results.files import finite, json_lines, reading
from orchestrator.results.points import read_curve
from orchestrator.results.read import read_run
from orchestrator.results.summary import RunSummary, read_summary
from orchestrator.results.tables import blocks
from orchestrator.results.typed_json import to_json
from pame.observe import Evaluation

LABELS = ("run", "algorithm", "backend", "nodes", "seed")
_TEXTS = ("measured",)
"""What summary.json says in sentences."""
_BY_NODE = ("results",)
_EVENT = ("seconds", "what", "node", "detail")
_FAULT = ("fault", "words", "begin", "end", "unit", "happened", "why_not")
_MAY_BE_EMPTY = ("seconds", "waited_s", "coverage", "staleness")
"""Of records.csv; all other columns are whole numbers."""

Labels = Mapping[str, Any]


def summary_of(folder: Path) -> RunSummary:
    """Also of a run that is under way or broke off, as far as its files tell; ReportError if there is no run."""
    with reading(folder):
        found = read_summary(folder)
    return read_run(folder).summary if found is None else found


def labels_of(folder: Path, summary: RunSummary) -> Labels:
    told = (folder.resolve().name, summary.algorithm, summary.backend, summary.nodes, summary.seed)
    return dict(zip(LABELS, told, strict=True))


def curve_table(folder: Path) -> ColumnTable:
    """A row per point: f at the mean model, f* and the gap between both, consensus, metrics, the nodes' own models."""
    summary = summary_of(folder)
    with reading(folder):
        rows = [_point(point, summary.least) for point in read_curve(folder)]
    names = ("by", "iteration", "seconds", "bytes", "objective", "f_star", "gap", "consensus", "coverage")
    return table_of(rows, names).labelled(**labels_of(folder, summary))


def records_table(folder: Path) -> ColumnTable:
    """A row per node and iteration, as in records.csv."""
    return _numbers(folder, "records.csv").labelled(**labels_of(folder, summary_of(folder)))


def links_table(folder: Path) -> ColumnTable:
    """A row per directed link, as in links.csv; no row while a run is under way."""
    return _numbers(folder, "links.csv").labelled(**labels_of(folder, summary_of(folder)))


def events_table(folder: Path) -> ColumnTable:
    """A row per line of events.jsonl; what is no plain value in it is JSON."""
    with reading(folder):
        lines = list(json_lines(folder / "events.jsonl"))
    rows = [{name: _flat_cell(value) for name, value in line.items()} for line in lines]
    return table_of(rows, _EVENT).labelled(**labels_of(folder, summary_of(folder)))


def faults_table(folder: Path) -> ColumnTable:
    """A row per window of the plan, in its own unit; `end` is missing where a fault lasts to the end."""
    summary = summary_of(folder)
    with reading(folder):
        faults = read_faults(folder, summary.faults)
    rows = [
        {
            "fault": spell.fault,
            "words": spell.words,
            "begin": float(spell.begin),
            "end": None if spell.end == inf else float(spell.end),
            "unit": spell.unit,
            "happened": spell.why_not is None,
            "why_not": spell.why_not,
        }
        for spell in (faults.spells if faults else ())
    ]
    return table_of(rows, _FAULT).labelled(**labels_of(folder, summary))


def summary_table(folder: Path) -> ColumnTable:
    """One row: the numbers and words of summary.json, their keys joined by dots, with f* and the gap at the end."""
    summary = summary_of(folder)
    told = to_json(summary)
    end = {"f_star": summary.least, "gap": gap_of(summary.final.objective, summary.least)}
    row = {**labels_of(folder, summary), **end, **dict(_flat(told))}
    return table_of([row])


RUN_TABLES = {
    "curve": curve_table,
    "records": records_table,
    "links": links_table,
    "events": events_table,
    "faults": faults_table,
    "summary": summary_table,
}
"""By name: what a run folder has."""


def gap_of(objective: float | None, least: float | None) -> float | None:
    """f - f*; None: nobody knows."""
    return None if objective is None or least is None else objective - least


def _point(point: Evaluation, least: float | None) -> dict[str, Any]:
    own = point.own
    row: dict[str, Any] = {
        "by": point.by,
        "iteration": point.iteration,
        "seconds": finite(point.seconds),
        "bytes": point.bytes,
        "objective": finite(point.objective),
        "f_star": least,
        "gap": gap_of(finite(point.objective), least),
        "consensus": finite(point.consensus),
        "coverage": finite(point.coverage),
        **{name: finite(value) for name, value in point.metrics.items()},
    }
    if own is not None:
        row |= {"nodes_objective": finite(own.objective), "nodes_gap": gap_of(finite(own.objective), least)}
        row |= {"worst_objective": finite(own.worst), "worst_gap": gap_of(finite(own.worst), least)}
        for of, values in (("nodes", own.metrics), ("lowest", own.lowest), ("highest", own.highest)):
            row |= {f"{of}_{name}": finite(value) for name, value in values.items()}
    return row


def _numbers(folder: Path, name: str) -> ColumnTable:
    """A file of numbers, whole where every cell has to be."""
    path = folder / name
    with reading(folder):
        names = _header(path)
        parts = list(blocks(path, names)) if names else []
    columns = {name: np.concatenate([part[name] for part in parts]) if parts else np.zeros(0) for name in names}
    return ColumnTable(
        {
            name: values if name in _MAY_BE_EMPTY or np.isnan(values).any() else values.astype(np.int64)
            for name, values in columns.items()
        }
    )


def _header(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return tuple(next(csv.reader(file), ()))


def _flat(told: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in told.items():
        if name in _TEXTS or (name in _BY_NODE and above):
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        elif not isinstance(value, list):
            yield f"{above}{name}", value


def _flat_cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value
