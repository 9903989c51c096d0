"""records.csv and links.csv, read as a stream and kept as sums: a page never holds raw rows.

records.csv can have millions of rows, so it is read in blocks; per node only sums survive, and of coverage and
waiting the values themselves (four bytes each), because quantiles need them.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class Records:
    """Sums over iterations, one entry per node, and every coverage with its iteration."""

    rows: int
    waited_s: Floats
    longest_wait_s: Floats
    waits: NDArray[np.int64]
    starved: Floats
    late: Floats
    coverage: NDArray[np.float32]
    coverage_iteration: NDArray[np.float32]

    @property
    def has_clock(self) -> bool:
        """Whether any waiting time was recorded."""
        return bool(self.waits.any())


@dataclass(frozen=True, slots=True)
class Links:
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
    """The sums of records.csv, or None if the run left no rows."""
    rows = 0
    waited, longest, starved, late = (np.zeros(0) for _ in range(4))
    waits = np.zeros(0, np.int64)
    coverages: list[NDArray[np.float32]] = []
    iterations: list[NDArray[np.float32]] = []
    for block in _blocks(path, ("node", "iteration", "waited_s", "coverage", "starved", "late")):
        node = block["node"].astype(np.int64)
        rows += node.size
        nodes = max(waited.size, int(node.max()) + 1)
        waited, longest, starved, late = (_grown(array, nodes) for array in (waited, longest, starved, late))
        waits = np.concatenate([waits, np.zeros(nodes - waits.size, np.int64)])
        wait = block["waited_s"]
        is_wait = np.isfinite(wait)
        waited += np.bincount(node, np.where(is_wait, wait, 0.0), nodes)
        waits += np.bincount(node[is_wait], minlength=nodes)
        np.maximum.at(longest, node[is_wait], wait[is_wait])
        starved += np.bincount(node, np.nan_to_num(block["starved"]), nodes)
        late += np.bincount(node, np.nan_to_num(block["late"]), nodes)
        covered = np.isfinite(block["coverage"])
        coverages.append(block["coverage"][covered].astype(np.float32))
        iterations.append(block["iteration"][covered].astype(np.float32))
    if not rows:
        return None
    return Records(rows, waited, longest, waits, starved, late, np.concatenate(coverages), np.concatenate(iterations))


def read_links(path: Path) -> Links | None:
    """The links of links.csv, or None if the run left none."""
    names = ("sender", "receiver", "messages", "bytes", "aggregated", "late", "lost")
    blocks = list(_blocks(path, names))
    if not blocks:
        return None
    column = {name: np.nan_to_num(np.concatenate([block[name] for block in blocks])) for name in names}
    return Links(
        column["sender"].astype(np.int64),
        column["receiver"].astype(np.int64),
        column["messages"],
        column["bytes"],
        column["aggregated"],
        column["late"],
        column["lost"],
    )


def _blocks(path: Path, names: tuple[str, ...]) -> Iterator[dict[str, Floats]]:
    """Columns by name, some rows at a time; an empty cell is NaN, a row cut short by an interruption is left out."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        if not set(names) <= set(header):
            return
        places = [header.index(name) for name in names]
        while rows := list(islice(reader, BLOCK_ROWS)):
            whole = [row for row in rows if len(row) == len(header) and row[places[0]]]
            if whole:
                yield {
                    name: np.array([_cell(row[place]) for row in whole], np.float64)
                    for name, place in zip(names, places, strict=True)
                }


def _cell(text: str) -> float:
    if not text:
        return np.nan
    try:
        return float(text)
    except ValueError:
        return float(text.lower() == "true")


def _grown(array: Floats, size: int) -> Floats:
    return np.concatenate([array, np.zeros(size - array.size)])
