"""What the nodes report, turned into records, points of the curves, and the decision to stop.

By iteration: complete sets of snapshots only; sets that are not complete are kept up to a bound in bytes.
By time: the latest snapshot of each live node, a point whenever their mean iteration passes one that is due.
"""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contract.rpc import control_pb2 as pb
from pame.byte_account import ByteAccount
from pame.evaluate import Evaluator, Measured
from pame.observe import Observer, Record, StoredModels
from pame.resolved_run import ResolvedRun

Vector = NDArray[np.float64]

_SETS_BYTES = 128 * 2**20
_SETS_AT_LEAST = 4


@dataclass(frozen=True, slots=True)
class UnmeasuredPoint:
    """A point of a curve whose figures are still to be computed."""

    by: Literal["iteration", "time"]
    iteration: int
    seconds: float
    models: Vector
    """A row per node."""
    sent: int


@dataclass(slots=True)
class _Pieces:
    """A model that is on its way, in order."""

    iteration: int
    model: Vector
    filled: int = 0


class NodeReports:
    """Everything the nodes of one run have said."""

    def __init__(self, setting: ResolvedRun, observer: Observer) -> None:
        nodes, n = setting.topology.nodes, setting.problem.n
        self._setting = setting
        self._observer = observer
        self._evaluator = Evaluator(setting, ByteAccount(nodes), observer)
        self.by_time = setting.conditions.keep_nodes_apart
        """Whether the curve by time decides: with stragglers and faults complete sets lag behind."""
        self._pieces: dict[tuple[int, bool], _Pieces] = {}
        """Of the snapshot, or result, that a node is sending."""
        self._sets: dict[int, dict[int, Vector]] = {}
        """By iteration and node: the models of sets that are not complete."""
        self._sent_at: Counter[int] = Counter()
        self._added, self._added_to = 0, 0
        """Bytes of the iterations before that one."""
        self._last_by_time = -1
        self._told_by_time = -1
        self.latest = np.zeros((nodes, n))
        """The newest snapshot of every node."""
        self.latest_iteration = np.full(nodes, -1)
        self.results: dict[int, tuple[int, Vector]] = {}
        """By node: iteration and model of its result."""
        self.iterations = [0] * nodes
        """How far every node is, by its records."""
        self.bytes = 0
        self.late = 0
        self.starved = 0
        self.records = 0
        self.snapshot_bytes = 0
        self.cpu_s, self.evaluated_s = 0.0, 0.0
        """Spent here on evaluating models."""

    def has_faults(self) -> None:
        """A node died: complete sets may never come again."""
        self.by_time = True

    def report(self, node: int, records: Iterable[pb.Record]) -> None:
        rows = [_record(node, record) for record in records]
        if not rows:
            return
        self.records += len(rows)
        self.iterations[node] = rows[-1].iteration + 1
        for row in rows:
            self._sent_at[row.iteration] += row.bytes
            self._added += row.bytes if row.iteration < self._added_to else 0  # of a node that came back behind others
            self.bytes += row.bytes
            self.late += row.late
            self.starved += row.starved
            if row.coverage is not None:
                self._evaluator.covered(row.coverage)
        self._observer.recorded(rows)

    def snapshot(
        self, node: int, chunk: pb.SnapshotChunk, seconds: float, alive: Iterable[int]
    ) -> list[UnmeasuredPoint]:
        """A piece of a model came; the points it completes, to be measured and judged in this order."""
        model = self._assemble(node, chunk)
        if model is None:
            return []
        k = chunk.iteration
        if chunk.result:
            self.results[node] = (k, model)
            return []
        if k > self.latest_iteration[node]:
            self.latest[node], self.latest_iteration[node] = model, k
        points = [self._point_by_iteration(node, k, model, seconds), self._point_by_time(seconds, alive)]
        return [point for point in points if point is not None]

    def measure(self, point: UnmeasuredPoint) -> Measured | StoredModels:
        """The part of an evaluation that takes time; it touches nothing, so that a thread can do it."""
        began, start = time.monotonic(), time.thread_time()
        measured = self._evaluator.measure(point.models)
        self.cpu_s += time.thread_time() - start
        self.evaluated_s += time.monotonic() - began
        return measured

    def judge(self, point: UnmeasuredPoint, measured: Measured | StoredModels) -> str | None:
        """Tell the observers; why the run ends, if this point decides so."""
        if point.by == "time":
            if point.iteration <= self._told_by_time:
                return None
            self._told_by_time = point.iteration
        decides = self.by_time == (point.by == "time")
        reason = self._evaluator.judge(measured, point.iteration, point.seconds, point.by, decides, point.sent)
        if reason is not None and point.by == "iteration" and point.iteration > self._told_by_time:
            # the curve by time ends there too
            self._told_by_time = point.iteration
            self._evaluator.judge(measured, point.iteration, point.seconds, "time", decides=False, sent=self.bytes)
        return reason

    def _assemble(self, node: int, chunk: pb.SnapshotChunk) -> Vector | None:
        """The model, when its last piece is there. A piece lost with a broken connection costs its whole snapshot."""
        n = self._setting.problem.n
        values = np.frombuffer(chunk.values, dtype="<f8")
        self.snapshot_bytes += len(chunk.values)
        key = (node, chunk.result)
        if chunk.offset == 0:
            self._pieces[key] = _Pieces(chunk.iteration, np.empty(n))
        pieces = self._pieces.get(key)
        end = chunk.offset + values.size
        if pieces is None or (pieces.iteration, pieces.filled) != (chunk.iteration, chunk.offset) or end > n:
            self._pieces.pop(key, None)
            return None
        pieces.model[chunk.offset : end] = values
        pieces.filled = end
        return self._pieces.pop(key).model if end == n else None

    def _point_by_iteration(self, node: int, k: int, model: Vector, seconds: float) -> UnmeasuredPoint | None:
        if not self._evaluator.due(k):
            return None
        models = self._sets.setdefault(k, {})
        models.setdefault(node, model)  # a node that came back does some iterations again
        if len(models) < self._setting.topology.nodes:
            kept = sum(map(len, self._sets.values())) * model.nbytes
            if len(self._sets) > _SETS_AT_LEAST and kept > _SETS_BYTES:
                del self._sets[self._remotest()]
            return None
        del self._sets[k]
        return UnmeasuredPoint(
            "iteration", k, seconds, np.stack([models[i] for i in sorted(models)]), self._sent_before(k)
        )

    def _remotest(self) -> int:
        """Of the incomplete sets, one of nodes that died, are far behind, or say that they are far ahead."""
        middle = float(np.median(self.latest_iteration))
        return max(self._sets, key=lambda k: abs(k - middle))

    def _point_by_time(self, seconds: float, alive: Iterable[int]) -> UnmeasuredPoint | None:
        living = list(alive)
        nodes = [node for node in living if self.latest_iteration[node] >= 0]
        if not nodes or (self._last_by_time < 0 and len(nodes) < len(living)):
            return None
        every = self._setting.evaluate_every
        due = int(self.latest_iteration[nodes].mean()) // every * every
        if due <= self._last_by_time:
            return None
        self._last_by_time = due
        return UnmeasuredPoint("time", due, seconds, self.latest[nodes], self.bytes)

    def _sent_before(self, k: int) -> int:
        """Bytes of the iterations before k; sets complete in order, so that few are added each time."""
        self._added += sum(self._sent_at[iteration] for iteration in range(self._added_to, k))
        self._added_to = max(self._added_to, k)
        return self._added


def _record(node: int, record: pb.Record) -> Record:
    return Record(
        node=node,
        iteration=record.iteration,
        seconds=record.seconds,
        waited_s=record.waited_s,
        wanted=record.wanted,
        received=record.received,
        coverage=record.coverage if record.HasField("coverage") else None,
        starved=int(record.starved),
        late=record.late,
        messages=record.messages,
        bytes=record.bytes,
        lost=record.lost,
        staleness=record.staleness if record.HasField("staleness") else None,
    )
