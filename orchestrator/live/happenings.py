"""What happened in a run, in order of time: its events, and what its nodes wrote on their standard error."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from orchestrator.results.events import EventWord

_EVENTS, _LINES = 200, 200
_CHARACTERS = 400
_AT_ONCE = 1 << 16
_MEMBER = re.compile(r"\bmember=(\S+)")
LOG = "log"
"""`what` of a line that a node wrote."""


class NodeLog:
    """The newest lines of the file in which the nodes of this machine write; a line is as old as the look at it."""

    def __init__(self) -> None:
        self._offset: int | None = None
        self._begun = b""
        self.lines: deque[dict[str, Any]] = deque(maxlen=_LINES)
        self.count = 0

    def read(self, path: Path, seconds: float, node_of: Callable[[str], int | None]) -> None:
        """What is new; of what was there before the first look nothing."""
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                if self._offset is None or size < self._offset:
                    self._offset = size
                if size - self._offset > _AT_ONCE:
                    self._offset, self._begun = size - _AT_ONCE, b""
                file.seek(self._offset)
                text = self._begun + file.read(_AT_ONCE)
                self._offset = file.tell()
        except OSError:  # not there yet, or not any more
            return
        *whole, self._begun = text.split(b"\n")
        for line in whole:
            words = line.decode(errors="replace").strip()
            named = _MEMBER.search(words)
            node = None if named is None else node_of(named[1])
            shown = words if len(words) <= _CHARACTERS else f"{words[:_CHARACTERS]}…"
            self.lines.append({"seconds": round(seconds, 1), "what": LOG, "node": node, "detail": shown})
            self.count += 1


def in_order(events: Iterable[Mapping[str, Any]], log: NodeLog) -> list[dict[str, Any]]:
    """Both together, the newest of each; `number` is that of the fault of which an event tells."""
    told = [_event(event) for event in events if event["what"] != EventWord.ASSIGNED][-_EVENTS:]
    return sorted([*told, *log.lines], key=lambda entry: float(entry["seconds"]))


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    took = event.get("took")
    acknowledged = "" if took is None else f"acknowledged after {took:.3g} s"
    details = (str(event.get("detail") or ""), str(event.get("mechanism") or ""), acknowledged)
    shown = {"seconds": event["seconds"], "what": event["what"], "node": event.get("node")}
    number = {} if event.get("number") is None else {"number": event["number"]}
    return {**shown, "detail": ", ".join(filter(None, details))[:_CHARACTERS], **number}
