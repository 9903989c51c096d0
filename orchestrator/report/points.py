"""curve.jsonl as typed data: the points of the curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.report.files import finite, json_lines, last_json_line, numbers


@dataclass(frozen=True, slots=True)
class Point:
    """One line of curve.jsonl: the state of the whole network at an iteration or at a second."""

    by: str
    iteration: float | None
    seconds: float | None
    bytes: float | None
    objective: float | None
    consensus: float | None
    coverage: float | None
    metrics: Mapping[str, float | None]


def read_curve(folder: Path) -> tuple[Point, ...]:
    """curve.jsonl of a run folder; a last line cut short by a crash is left out."""
    return tuple(map(_point, json_lines(folder / "curve.jsonl")))


def read_last_point(folder: Path) -> Point | None:
    """The end of curve.jsonl, without reading the rest of it."""
    line = last_json_line(folder / "curve.jsonl")
    return None if line is None else _point(line)


def _point(line: Mapping[str, Any]) -> Point:
    return Point(
        by=str(line.get("by") or "iteration"),
        iteration=finite(line.get("iteration")),
        seconds=finite(line.get("seconds")),
        bytes=finite(line.get("bytes")),
        objective=finite(line.get("objective")),
        consensus=finite(line.get("consensus")),
        coverage=finite(line.get("coverage")),
        metrics=numbers(line.get("metrics")),
    )
