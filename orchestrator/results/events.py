"""events.jsonl: the words for what happens to the nodes of a run, and its lines as far as a report shows them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from orchestrator.results.files import finite, json_lines

EVENTS_SHOWN = 200
DETAIL_CHARACTERS = 300


class EventWord(StrEnum):
    """`what` of a line that this version writes; older ones wrote others, too."""

    ASSIGNED = "assigned"
    LEFT = "left"
    DIED = "died"
    SILENT = "silent"
    HEARD_AGAIN = "heard again"
    BACK = "back"
    """Its connection was broken, the node went on."""
    RESTARTED = "restarted"
    REFUSED = "refused"
    FAULT_BEGINS = "fault begins"
    FAULT_ENDS = "fault ends"
    FAULT_FAILED = "fault failed"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One line of events.jsonl as words; `detail` holds whatever else the line says."""

    seconds: str
    what: str
    node: str
    detail: str


@dataclass(frozen=True, slots=True)
class Events:
    """The first events in full, and of all of them how often each happened."""

    first: tuple[RunEvent, ...]
    total: int
    kinds: Counter[str]


def read_events(folder: Path) -> Events | None:
    """events.jsonl of a run folder, or None if the run left no events."""
    first: list[RunEvent] = []
    kinds: Counter[str] = Counter()
    for line in json_lines(folder / "events.jsonl"):
        event = _event(line)
        if event.what == EventWord.ASSIGNED:  # tells nothing to a reader of the report
            continue
        kinds[event.what] += 1
        if len(first) < EVENTS_SHOWN:
            first.append(event)
    return Events(tuple(first), kinds.total(), kinds) if first else None


def _event(line: Mapping[str, Any]) -> RunEvent:
    seconds, node = finite(line.get("seconds")), line.get("node")
    own = ("seconds", "what", "node", "detail")
    details = [str(line["detail"])] if line.get("detail") else []
    details += [f"{key}: {value}" for key, value in line.items() if key not in own and value is not None]
    detail = ", ".join(details)
    return RunEvent(
        seconds="–" if seconds is None else f"{seconds:.3f}",
        what=str(line.get("what") or "unnamed"),
        node="–" if node is None else str(node),
        detail=detail if len(detail) <= DETAIL_CHARACTERS else f"{detail[:DETAIL_CHARACTERS]}…",
    )
