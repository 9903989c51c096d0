"""curve.jsonl as typed data: the points of the curves."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orchestrator.results.files import finite, json_lines, last_json_line, mapping, numbers
from pame.observe import Evaluation


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One line of curve.jsonl: the state of the whole network at an iteration or at a second."""

    by: str
    iteration: float | None
    seconds: float | None
    bytes: float | None
    objective: float | None
    consensus: float | None
    coverage: float | None
    metrics: Mapping[str, float | None]
    """Of the mean of all models, as `objective`."""
    own: "OwnModels | None" = None
    """None: not measured."""


@dataclass(frozen=True, slots=True)
class OwnModels:
    """The nodes' own models, each judged by itself: means over the nodes, the largest f, the ends of each metric."""

    objective: float | None
    worst: float | None
    metrics: Mapping[str, float | None]
    lowest: Mapping[str, float | None]
    highest: Mapping[str, float | None]


def point_of(evaluation: Evaluation) -> CurvePoint:
    """A point as a run tells it, before it is a line of a file."""
    return _point(asdict(evaluation))


def own_models(told: object) -> OwnModels | None:
    """As curve.jsonl and summary.json have them."""
    found = mapping(told)
    if not found:
        return None
    return OwnModels(
        objective=finite(found.get("objective")),
        worst=finite(found.get("worst")),
        metrics=numbers(found.get("metrics")),
        lowest=numbers(found.get("lowest")),
        highest=numbers(found.get("highest")),
    )


def read_curve(folder: Path) -> tuple[CurvePoint, ...]:
    """curve.jsonl of a run folder; a last line cut short by a crash is left out."""
    return tuple(map(_point, json_lines(folder / "curve.jsonl")))


def read_last_point(folder: Path) -> CurvePoint | None:
    """The end of curve.jsonl, without reading the rest of it."""
    line = last_json_line(folder / "curve.jsonl")
    return None if line is None else _point(line)


def _point(line: Mapping[str, Any]) -> CurvePoint:
    return CurvePoint(
        by=str(line.get("by") or "iteration"),
        iteration=finite(line.get("iteration")),
        seconds=finite(line.get("seconds")),
        bytes=finite(line.get("bytes")),
        objective=finite(line.get("objective")),
        consensus=finite(line.get("consensus")),
        coverage=finite(line.get("coverage")),
        metrics=numbers(line.get("metrics")),
        own=own_models(line.get("own")),
    )
