"""curve.jsonl: the points of the curves, as a run evaluated them; a figure that was not finite is NaN."""

from pathlib import Path

from orchestrator.results.files import json_lines, last_json_line
from orchestrator.results.typed_json import from_json
from pame.observe import Evaluation


def read_curve(folder: Path) -> tuple[Evaluation, ...]:
    """curve.jsonl of a run folder; a line that is no point, or was cut short by a crash, is left out."""
    points = (from_json(Evaluation, line) for line in json_lines(folder / "curve.jsonl"))
    return tuple(point for point in points if point is not None)


def read_last_point(folder: Path) -> Evaluation | None:
    """The end of curve.jsonl, without reading the rest of it."""
    return from_json(Evaluation, last_json_line(folder / "curve.jsonl"))
