"""How far a campaign is, as the page shows it: its stages, and its newest runs."""

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any

_ROWS = 200


class CampaignProgress:
    """Told in one thread, looked at in another."""

    def __init__(self, name: str, verb: str, folder: str) -> None:
        self._about = {"name": name, "verb": verb, "folder": folder}
        self._lock = Lock()
        self._stages: dict[str, dict[str, Any]] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        self._now = ""
        self._status = "running"
        self._began = time.monotonic()
        self._took: float | None = None

    def stage(self, name: str, runs: int, ended: int, share: float) -> None:
        """`share`: how far all its runs are, ended or not, 0 to 1."""
        with self._lock:
            self._stages[name] = {"name": name, "runs": runs, "ended": ended, "share": round(share, 4)}

    def row(self, place: str, words: str, seed: int, where: str, figures: Mapping[str, str]) -> None:
        """A run that goes on (`where` is empty), or is over; `place` tells it from others."""
        with self._lock:
            self._rows.pop(place, None)
            self._rows[place] = {"words": words, "seed": seed, "where": where, "figures": dict(figures)}
            while len(self._rows) > _ROWS:
                del self._rows[next(iter(self._rows))]

    def now(self, words: str) -> None:
        """What the run on nodes does just now; empty: none goes on."""
        self._now = words

    def over(self, status: str) -> None:
        self._status = status
        self._took = time.monotonic() - self._began
        self._now = ""

    @property
    def is_over(self) -> bool:
        return self._status != "running"

    def look(self) -> dict[str, Any]:
        with self._lock:
            stages, rows = [dict(stage) for stage in self._stages.values()], list(self._rows.values())
        seconds = time.monotonic() - self._began if self._took is None else self._took
        told = {"status": self._status, "seconds": round(seconds, 1), "now": self._now}
        return {**self._about, **told, "stages": stages, "rows": rows[::-1]}
