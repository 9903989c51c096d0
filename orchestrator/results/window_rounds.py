"""What the nodes recorded while something was done to them: the rounds and waits of records.csv by windows of a run.

The file is read as a stream.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from orchestrator.results.tables import Floats, blocks

Range = tuple[float, float]
_COUNTED = ("wanted", "received", "starved", "late")
_COLUMNS = ("node", "iteration", "seconds", "waited_s", *_COUNTED)
_NEWER = ("lost", "staleness")


@dataclass(slots=True)
class AgeSum:
    """How many iterations the messages of some averages were behind; an average of nothing, NaN, does not count."""

    count: int = 0
    total: float = 0.0
    largest: float = 0.0

    def add(self, values: Floats) -> None:
        known = values[np.isfinite(values)]
        self.count += known.size
        self.total += float(known.sum())
        self.largest = max(self.largest, float(known.max(initial=0.0)))

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass(slots=True)
class Rounds:
    """What the nodes recorded in a window; `waited_s` None: without a clock; `lost` None: not recorded."""

    rounds: int = 0
    starved: int = 0
    short: int = 0
    missing: int = 0
    late: int = 0
    waited_s: float | None = None
    lost: int | None = None
    inside: AgeSum = field(default_factory=AgeSum)
    outside: AgeSum = field(default_factory=AgeSum)
    """Both empty: not recorded."""
    placed: int = field(default=0, compare=False)
    """Rows of the whole file that have the unit of the window."""


def rounds_in_windows(path: Path, windows: Sequence[tuple[str, Range | None]]) -> list[Rounds | None]:
    """Of records.csv, for windows in `seconds` or `iterations`; None: there is no window, or no row has a place."""
    counts = [Rounds() for _ in windows]
    for rows in _timed_rows(path):
        for (unit, span), count in zip(windows, counts, strict=True):
            if span is not None:
                _add(count, rows, unit, *span)
    return [count if count.placed else None for count in counts]


def _timed_rows(path: Path) -> Iterator[dict[str, Floats]]:
    """The columns by name, node by node, and when each began and ended to wait (`began`, `until`).

    A wait begins when the iteration before it is done; after a gap (a restart) it is put at the row's own end.
    """
    last: dict[float, tuple[float, float]] = {}
    for block in blocks(path, _COLUMNS, _NEWER):
        order = np.argsort(block["node"], kind="stable")
        rows = {name: column[order] for name, column in block.items()}
        node, iteration, seconds = rows["node"], rows["iteration"], rows["seconds"]
        before, done = np.roll(iteration, 1), np.roll(seconds, 1)
        for first in np.flatnonzero(np.diff(node, prepend=-1.0)):
            before[first], done[first] = last.get(float(node[first]), (-1.0, 0.0))
        for final in np.flatnonzero(np.diff(node, append=-1.0)):
            last[float(node[final])] = float(iteration[final]), float(seconds[final])
        wait = np.nan_to_num(rows["waited_s"])
        began = np.where(iteration == before + 1, done, seconds - wait)
        began = np.where(np.isfinite(seconds), np.fmin(began, seconds), np.nan)
        counted = {name: np.nan_to_num(rows[name]) for name in _COUNTED}
        yield {**rows, **counted, "began": began, "until": began + wait}


def _add(count: Rounds, rows: dict[str, Floats], unit: str, begin: float, end: float) -> None:
    iteration, began, until = rows["iteration"], rows["began"], rows["until"]
    if unit == "iterations":
        count.placed += int(np.isfinite(iteration).sum())
        there = sent_there = (iteration >= begin) & (iteration < end)
        waited = np.nan_to_num(rows["waited_s"])
    else:
        count.placed += int(np.isfinite(began).sum())
        there = (began < end) & (until >= begin)
        sent_there = (began < end) & (began >= begin)
        waited = np.clip(np.minimum(until, end) - np.maximum(began, begin), 0.0, None)
    lacking = np.clip(rows["wanted"] - rows["received"], 0.0, None)
    is_round, is_starved = there & (rows["wanted"] > 0), rows["starved"] > 0
    count.rounds += int(is_round.sum())
    count.starved += int((is_round & is_starved).sum())
    count.short += int((is_round & ~is_starved & (lacking > 0)).sum())
    count.missing += int(lacking[is_round].sum())
    count.late += int(rows["late"][there].sum())
    if np.isfinite(rows["waited_s"]).any():
        count.waited_s = (count.waited_s or 0.0) + float(waited[there].sum())
    if np.isfinite(rows["lost"]).any():
        count.lost = (count.lost or 0) + int(np.nansum(rows["lost"][sent_there]))
    count.inside.add(rows["staleness"][there])
    count.outside.add(rows["staleness"][~there])
