"""What the nodes recorded while something was done to them: the rounds and waits of records.csv by windows of a run.

The file is read as a stream.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.results.tables import Floats, blocks

Range = tuple[float, float]
_COLUMNS = ("node", "iteration", "seconds", "waited_s", "wanted", "received", "starved", "late")
_NEWER = ("lost", "staleness")


@dataclass(frozen=True, slots=True)
class Ages:
    """How old the messages in averages were, in iterations: mean and largest in a window, and the mean outside it."""

    mean: float | None
    largest: float | None
    outside: float | None


@dataclass(frozen=True, slots=True)
class Rounds:
    """What the nodes recorded in a window; `waited_s` None: without a clock; `lost` and `ages` None: not recorded."""

    rounds: int
    starved: int
    short: int
    missing: int
    late: int
    waited_s: float | None
    lost: int | None = None
    ages: Ages | None = None


def rounds_in_windows(path: Path, windows: Sequence[tuple[str, Range | None]]) -> list[Rounds | None]:
    """Of records.csv, for windows in `seconds` or `iterations`; None: there is no window, or no row has a place."""
    counts = [_Count() for _ in windows]
    for row in _timed_rows(path):
        for (unit, span), count in zip(windows, counts, strict=True):
            if span is not None:
                _add(count, row, unit, *span)
    return [count.closed() for count in counts]


@dataclass(slots=True)
class _Sum:
    """Of some numbers that are not negative; those that are NaN do not count."""

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
class _Count:
    """Sums over the rows of one window; `rows` counts those of the whole file that have the unit of the window."""

    rows: int = 0
    timed: bool = False
    rounds: int = 0
    starved: int = 0
    short: int = 0
    missing: float = 0.0
    late: float = 0.0
    waited_s: float = 0.0
    counts_lost: bool = False
    lost: float = 0.0
    inside: _Sum = field(default_factory=_Sum)
    outside: _Sum = field(default_factory=_Sum)
    """Of the ages of averages."""

    def closed(self) -> Rounds | None:
        """The sums, or nothing if no row could be placed."""
        if not self.rows:
            return None
        waited = self.waited_s if self.timed else None
        lost = int(self.lost) if self.counts_lost else None
        ages = None
        if self.inside.count or self.outside.count:
            ages = Ages(self.inside.mean, self.inside.largest if self.inside.count else None, self.outside.mean)
        return Rounds(self.rounds, self.starved, self.short, int(self.missing), int(self.late), waited, lost, ages)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Columns of some records, and when each node began and ended to wait."""

    iteration: Floats
    wanted: Floats
    received: Floats
    starved: NDArray[np.bool_]
    late: Floats
    waited_s: Floats
    """NaN: not measured."""
    began: Floats
    until: Floats
    lost: Floats
    """NaN: not recorded."""
    staleness: Floats
    """NaN: not recorded, or nothing averaged."""


def _timed_rows(path: Path) -> Iterator[_Rows]:
    """A wait begins when the iteration before it is done; after a gap (a restart) it is put at the row's own end."""
    last: dict[float, tuple[float, float]] = {}
    for block in blocks(path, _COLUMNS, _NEWER):
        order = np.argsort(block["node"], kind="stable")
        node, iteration, seconds, waited = (block[name][order] for name in _COLUMNS[:4])
        before, done = np.roll(iteration, 1), np.roll(seconds, 1)
        for first in np.flatnonzero(np.diff(node, prepend=-1.0)):
            before[first], done[first] = last.get(float(node[first]), (-1.0, 0.0))
        for final in np.flatnonzero(np.diff(node, append=-1.0)):
            last[float(node[final])] = float(iteration[final]), float(seconds[final])
        wait = np.nan_to_num(waited)
        began = np.where(iteration == before + 1, done, seconds - wait)
        began = np.where(np.isfinite(seconds), np.fmin(began, seconds), np.nan)
        wanted, received, starved, late = (np.nan_to_num(block[name][order]) for name in _COLUMNS[4:])
        lost, staleness = (block[name][order] for name in _NEWER)
        yield _Rows(iteration, wanted, received, starved > 0, late, waited, began, began + wait, lost, staleness)


def _add(count: _Count, rows: _Rows, unit: str, begin: float, end: float) -> None:
    wait = np.nan_to_num(rows.waited_s)
    if unit == "iterations":
        count.rows += int(np.isfinite(rows.iteration).sum())
        there = sent_there = (rows.iteration >= begin) & (rows.iteration < end)
        waited = wait
    else:
        count.rows += int(np.isfinite(rows.began).sum())
        there = (rows.began < end) & (rows.until >= begin)
        sent_there = (rows.began < end) & (rows.began >= begin)
        waited = np.clip(np.minimum(rows.until, end) - np.maximum(rows.began, begin), 0.0, None)
    count.timed |= bool(np.isfinite(rows.waited_s).any())
    lacking = np.clip(rows.wanted - rows.received, 0.0, None)
    is_round = there & (rows.wanted > 0)
    count.rounds += int(is_round.sum())
    count.starved += int((is_round & rows.starved).sum())
    count.short += int((is_round & ~rows.starved & (lacking > 0)).sum())
    count.missing += float(lacking[is_round].sum())
    count.late += float(rows.late[there].sum())
    count.waited_s += float(waited[there].sum())
    count.counts_lost |= bool(np.isfinite(rows.lost).any())
    count.lost += float(np.nansum(rows.lost[sent_there]))
    count.inside.add(rows.staleness[there])
    count.outside.add(rows.staleness[~there])
