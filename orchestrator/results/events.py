"""events.jsonl: the words for what happens to the nodes of a run, and its lines as far as a report shows them.

Some of them are what nodes told of faults: that one began, ended, or could not.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from orchestrator.experiment.faults.happened import Told
from orchestrator.results.files import finite, json_lines, largest, whole

_EVENTS_SHOWN = 200
_DETAIL_CHARACTERS = 300
_NO_REASON = "no reason told"


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
    HELD = "held"
    """By hand: all nodes wait, and the clock of the run stands still."""
    GOES_ON = "goes on"
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


@dataclass(frozen=True)
class Acts:
    """What was told of one window; a node that tells twice, because it was restarted, is believed the first time."""

    all: Sequence[Told]

    @cached_property
    def begun(self) -> list[float]:
        """When it began, by everybody who told and did not fail, ascending."""
        failed = {act.node for act in self.all if act.begins and act.failure}
        return _first_words(act for act in self.all if act.begins and act.node not in failed)

    @cached_property
    def ended(self) -> list[float]:
        return _first_words(act for act in self.all if not act.begins)

    @property
    def mechanisms(self) -> list[str]:
        return sorted({act.mechanism for act in self.all if act.mechanism})

    @property
    def took(self) -> float | None:
        """The longest time that an acknowledgement took."""
        return largest(act.took for act in self.all)

    @property
    def failures(self) -> list[str]:
        return list(dict.fromkeys(act.failure for act in self.all if act.failure))


def read_events(folder: Path) -> Events | None:
    """events.jsonl of a run folder, or None if the run left no events."""
    first: list[RunEvent] = []
    kinds: Counter[str] = Counter()
    for line in json_lines(folder / "events.jsonl"):
        event = _event(line)
        if event.what == EventWord.ASSIGNED:  # tells nothing to a reader of the report
            continue
        kinds[event.what] += 1
        if len(first) < _EVENTS_SHOWN:
            first.append(event)
    return Events(tuple(first), kinds.total(), kinds) if first else None


def told_of(line: Mapping[str, Any]) -> Told | None:
    """What a line says of a fault; None: nothing, or it lacks a number."""
    what, planned = line.get("what"), line.get("planned")
    number, node, seconds = whole(line.get("number")), whole(line.get("node")), finite(line.get("seconds"))
    is_failed, detail = what == EventWord.FAULT_FAILED, str(line.get("detail") or "")[:_DETAIL_CHARACTERS]
    if what not in (EventWord.FAULT_BEGINS, EventWord.FAULT_ENDS, EventWord.FAULT_FAILED):
        return None
    if number is None or node is None or seconds is None:
        return None
    return Told(
        number=number,
        node=node,
        begins=line.get("failed") == "begins" if is_failed else what == EventWord.FAULT_BEGINS,
        planned=finite(planned.get("iteration") if isinstance(planned, dict) else planned),
        seconds=seconds,
        failure=(detail or _NO_REASON) if is_failed else "",
        mechanism=str(line.get("mechanism") or "")[:_DETAIL_CHARACTERS],
        took=finite(line.get("took")),
    )


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
        detail=detail if len(detail) <= _DETAIL_CHARACTERS else f"{detail[:_DETAIL_CHARACTERS]}…",
    )


def _first_words(acts: Iterable[Told]) -> list[float]:
    first: dict[int, float] = {}
    for act in acts:
        if not act.failure:
            first.setdefault(act.node, act.seconds)
    return sorted(first.values())
