"""What a run left: the same for one in the simulator, which leaves no files, and for one with a run folder.

And its curve as campaigns keep it: by iteration or by time, with the rounds and the bytes of each point.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from orchestrator.results.points import read_curve
from orchestrator.results.summary import require_summary
from orchestrator.results.tables import LinkTotals, read_links
from pame.algorithms import Who
from pame.byte_account import LinkRows
from pame.observe import Evaluation, Record
from pame.resolved_run import ResolvedRun

By = Literal["iteration", "time"]
SENT, NODES, WORST = "sent", "nodes_objective", "worst_objective"
"""Bytes really sent, where those of the edges that take part count; f at the nodes' own models: mean and largest."""
OF_NODES, LOWEST = "nodes_", "lowest_"
"""Before the name of a metric: its mean over the nodes' own models, and the lowest of them."""
_COUNTS = ("node", "iteration", "wanted", "starved", "messages", "bytes")


@dataclass(frozen=True)
class RunPoint:
    """One point of the curve that decides, and what the run had taken by then."""

    iteration: int
    rounds: float
    bytes: float
    seconds: float | None
    objective: float
    """f(mean model)."""
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RunLeft:
    """None: not known, as of a run on somebody else's nodes."""

    setting: ResolvedRun
    points: Sequence[Evaluation]
    seconds: float | None = None
    records: Sequence[Record] | None = None
    links: LinkRows | LinkTotals | None = None
    models: NDArray[np.float64] | None = None
    """The final ones, of all nodes."""

    def curve(self, by: By, taking_part: bool = False) -> tuple[RunPoint, ...]:
        """Points whose f is finite; `taking_part`: only bytes on edges that take part in a round count."""
        used = self._bytes_used() if taking_part else None
        before = list(accumulate(used.get(k, 0.0) for k in range(max(used, default=0) + 1))) if used else None
        return tuple(
            run_point(point, self.setting.periods, before)
            for point in self.points
            if point.by == by and isfinite(point.objective)
        )

    def _bytes_used(self) -> Mapping[int, float] | None:
        """By iteration: what went over edges that took part; None: all that is sent does, or nobody knows."""
        selection = self.setting.selection()
        if self.records is None or selection.who not in (Who.BROADCAST, Who.BROADCAST_SHARED):
            return None
        used: dict[int, float] = {}
        for record in self.records:
            if record.messages:
                share = len(selection.active(record.node, record.iteration)) / record.messages
                used[record.iteration] = used.get(record.iteration, 0.0) + share * record.bytes
        return used


def left_in(folder: Path, setting: ResolvedRun) -> RunLeft:
    summary = require_summary(folder)
    return RunLeft(
        setting,
        read_curve(folder),
        summary.seconds,
        list(_records(folder / "records.csv")) or None,
        read_links(folder / "links.csv"),
        _models(folder, setting.topology.nodes, summary.network and summary.network.results),
    )


def decisive(setting: ResolvedRun) -> By:
    """By iteration; by time where complete sets of models lag behind, or never come."""
    return "time" if setting.conditions.keep_nodes_apart else "iteration"


def rounds_before(periods: Sequence[int], iteration: int) -> float:
    """How many rounds a node has had before an iteration, the mean over the nodes; round 0 is one."""
    return sum(-(-iteration // period) for period in periods) / len(periods)


def run_point(point: Evaluation, periods: Sequence[int], before: Sequence[float] | None = None) -> RunPoint:
    """`before`: by iteration, the bytes that count, if these are not all that were sent."""
    iteration, sent, own = point.iteration, float(point.bytes), point.own
    metrics: dict[str, float] = {"consensus": point.consensus, **point.metrics}
    if own is not None:
        metrics |= {NODES: own.objective, WORST: own.worst}
        metrics |= {f"{OF_NODES}{name}": value for name, value in own.metrics.items()}
        metrics |= {f"{LOWEST}{name}": value for name, value in own.lowest.items()}
    if before is not None:
        metrics[SENT] = sent
    paid = sent if not before else before[min(iteration, len(before)) - 1] if iteration else 0.0
    known = {name: value for name, value in metrics.items() if isfinite(value)}
    return RunPoint(iteration, rounds_before(periods, iteration), paid, point.seconds, point.objective, known)


def _records(path: Path) -> Iterator[Record]:
    """What campaigns look at of records.csv; the rest of a record is nothing."""
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            seconds, waited_s = (float(line[name]) if line[name] else None for name in ("seconds", "waited_s"))
            counts = {name: int(line[name]) for name in _COUNTS}
            yield Record(seconds=seconds, waited_s=waited_s, **counts)


def _models(folder: Path, nodes: int, results: object) -> NDArray[np.float64] | None:
    """None if there are none, or a node of a network left none."""
    path = folder / "models.npy"
    if not path.is_file() or (isinstance(results, dict) and len(results) < nodes):
        return None
    models: NDArray[np.float64] = np.load(path, allow_pickle=False)
    return models
