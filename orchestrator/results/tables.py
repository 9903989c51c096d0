"""records.csv and links.csv, read as a stream and kept as sums: a page never holds raw rows.

records.csv can have millions of rows, so it is read in blocks; per node only sums survive, and of coverage and
waiting the values themselves (four bytes each), because quantiles need them.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK_ROWS = 50_000
_RECORD_COLUMNS = (
    "node", "iteration", "seconds", "waited_s", "coverage", "starved", "late", "messages", "bytes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Records:
    """Sums over iterations, one entry per node, and every coverage with its iteration; totals over all nodes."""

    rows: int
    messages: float
    bytes: float
    seconds: float | None
    done: NDArray[np.int64]
    waited_s: Floats
    longest_wait_s: Floats
    waits: NDArray[np.int64]
    starved: Floats
    late: Floats
    coverage: NDArray[np.float32]
    coverage_iteration: NDArray[np.float32]

    @property
    def has_clock(self) -> bool:
        return bool(self.waits.any())

    @property
    def typical_done(self) -> int:
        """The iterations that the median of the nodes has done; nodes without a row are left out."""
        return int(np.median(self.done[self.done > 0]))


@dataclass(frozen=True, slots=True)
class LinkTotals:
    """links.csv, one entry per directed link."""

    sender: NDArray[np.int64]
    receiver: NDArray[np.int64]
    messages: Floats
    bytes: Floats
    aggregated: Floats
    late: Floats
    lost: Floats

    @property
    def nodes(self) -> int:
        """One more than the largest node number that occurs."""
        return int(max(self.sender.max(), self.receiver.max())) + 1


def read_records(path: Path) -> Records | None:
    rows, messages, sent = 0, 0.0, 0.0
    seconds: float | None = None
    by_node = dict.fromkeys(("done", "waited_s", "longest_wait_s", "waits", "starved", "late"), np.zeros(0))
    coverages: list[NDArray[np.float32]] = []
    iterations: list[NDArray[np.float32]] = []
    for block in blocks(path, _RECORD_COLUMNS):
        node, wait = block["node"].astype(np.int64), block["waited_s"]
        rows += node.size
        messages += float(np.nansum(block["messages"]))
        sent += float(np.nansum(block["bytes"]))
        if np.isfinite(block["seconds"]).any():
            seconds = max(seconds or 0.0, float(np.nanmax(block["seconds"])))
        nodes, is_wait = max(by_node["done"].size, int(node.max()) + 1), np.isfinite(wait)
        by_node = {name: np.pad(column, (0, nodes - column.size)) for name, column in by_node.items()}
        np.maximum.at(by_node["done"], node, np.nan_to_num(block["iteration"]) + 1)
        np.maximum.at(by_node["longest_wait_s"], node[is_wait], wait[is_wait])
        by_node["waits"] += np.bincount(node[is_wait], minlength=nodes)
        by_node["waited_s"] += np.bincount(node[is_wait], wait[is_wait], nodes)
        for name in ("starved", "late"):
            by_node[name] += np.bincount(node, np.nan_to_num(block[name]), nodes)
        covered = np.isfinite(block["coverage"])
        coverages.append(block["coverage"][covered].astype(np.float32))
        iterations.append(block["iteration"][covered].astype(np.float32))
    if not rows:
        return None
    columns: dict[str, Any] = by_node | {name: by_node[name].astype(np.int64) for name in ("done", "waits")}
    coverage, at = np.concatenate(coverages), np.concatenate(iterations)
    return Records(rows, messages, sent, seconds, coverage=coverage, coverage_iteration=at, **columns)


def read_links(path: Path) -> LinkTotals | None:
    """The links of links.csv, or None if the run left none."""
    names = tuple(column.name for column in fields(LinkTotals))
    parts = list(blocks(path, names))
    if not parts:
        return None
    column = {name: np.nan_to_num(np.concatenate([part[name] for part in parts])) for name in names}
    ends = {name: column.pop(name).astype(np.int64) for name in ("sender", "receiver")}
    return LinkTotals(**ends, **column)


def blocks(path: Path, names: tuple[str, ...], newer: tuple[str, ...] = ()) -> Iterator[dict[str, Floats]]:
    """Columns by name, some rows at a time; an empty cell is NaN, a row cut short by a crash is left out.

    Columns that older runs do not have, `newer`, are NaN in those.
    """
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        # A row without its line's end may lack digits of its last cell, and nothing else would show it.
        reader = csv.reader(line for line in file if line.endswith(("\n", "\r")))
        header = next(reader, [])
        if not set(names) <= set(header):
            return
        places = {name: header.index(name) for name in (*names, *newer) if name in header}
        while rows := list(islice(reader, BLOCK_ROWS)):
            whole = [row for row in rows if len(row) == len(header) and row[places[names[0]]].isdigit()]
            if whole:
                found = {name: np.array([_cell(row[place]) for row in whole]) for name, place in places.items()}
                yield {name: np.full(len(whole), np.nan) for name in newer} | found


def _cell(text: str) -> float:
    if not text:
        return np.nan
    try:
        return float(text)
    except ValueError:
        return float(text.lower() == "true")
