"""What runs left in their folders."""

import csv
import json
from pathlib import Path
from typing import Any


def summary_of(folder: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return summary


def events_of(folder: Path, what: str = "") -> list[dict[str, Any]]:
    """All of them, or those of one kind."""
    path = folder / "events.jsonl"
    told = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [event for event in told if what in ("", event["what"])]


def rows_of(path: Path) -> list[dict[str, str]]:
    """Of a table."""
    return list(csv.DictReader(path.read_text().splitlines()))
