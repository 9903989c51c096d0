"""What the nodes report, turned into records, points of the curves, and the decision to stop.

By iteration: complete sets of snapshots only, kept as running mean and spread (Welford), not as models:

    d = x - mean;   mean += d/count;   spread += <d, x - mean>            consensus^2 = spread / count

By time: the latest snapshot of each live node, a point whenever their mean iteration passes one that is due.
"""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pame.evaluate import Evaluator
from pame.ledger import Ledger
from pame.observe import Observer, Record
from pame.rpc import control_pb2 as pb
from pame.setting import Setting

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a run ends, and whose iteration is the result."""

    reason: str
    iteration: int


@dataclass(slots=True)
class _Running:
    """Mean and spread of the models that have come for one iteration."""

    mean: Vector
    nodes: set[int] = field(default_factory=set)
    spread: float = 0.0

    @property
    def count(self) -> int:
        return len(self.nodes)

    def add(self, node: int, model: Vector) -> None:
        if node in self.nodes:  # it came back and does this iteration again
            return
        self.nodes.add(node)
        with np.errstate(over="ignore", invalid="ignore"):
            before = model - self.mean
            self.mean += before / self.count
            self.spread += float(before @ (model - self.mean))

    @property
    def consensus(self) -> float:
        return sqrt(max(self.spread, 0.0) / self.count)


class Collection:
    """Everything the nodes of one run have said."""

    def __init__(self, setting: Setting, observer: Observer) -> None:
        nodes, n = setting.topology.nodes, setting.problem.n
        self._setting = setting
        self._observer = observer
        self._evaluator = Evaluator(setting, Ledger(nodes), observer)
        self._by_time = bool(setting.compute.slow_nodes(setting.seed, nodes))
        self._pieces: dict[tuple[int, int, bool], Vector] = {}
        self._running: dict[int, _Running] = {}
        self._sent_at: Counter[int] = Counter()
        self._last_by_time = -1
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
        self.cpu_s = 0.0
        """Spent here on evaluating models."""

    @property
    def by_time(self) -> bool:
        """Whether the curve by time decides: with stragglers and faults complete sets lag behind."""
        return self._by_time

    def has_faults(self) -> None:
        """A node died: complete sets may never come again."""
        self._by_time = True

    def report(self, node: int, records: Iterable[pb.Record]) -> None:
        """A node did some iterations."""
        rows = [_record(node, record) for record in records]
        if not rows:
            return
        self.records += len(rows)
        self.iterations[node] = rows[-1].iteration + 1
        for row in rows:
            self._sent_at[row.iteration] += row.bytes
            self.bytes += row.bytes
            self.late += row.late
            self.starved += row.starved
            if row.coverage is not None:
                self._evaluator.covered(row.coverage)
        self._observer.recorded(rows)

    def snapshot(self, node: int, chunk: pb.SnapshotChunk, seconds: float, alive: Iterable[int]) -> Decision | None:
        """A piece of a model came; the end of the run, if it completes a set that decides."""
        model = self._assemble(node, chunk)
        if model is None:
            return None
        k = chunk.iteration
        if chunk.result:
            self.results[node] = (k, model)
            return None
        start = time.process_time()
        if k > self.latest_iteration[node]:
            self.latest[node], self.latest_iteration[node] = model, k
        decision = self._point_by_iteration(node, k, model, seconds) or self._point_by_time(seconds, alive)
        self.cpu_s += time.process_time() - start
        return decision

    def _assemble(self, node: int, chunk: pb.SnapshotChunk) -> Vector | None:
        n = self._setting.problem.n
        values = np.frombuffer(chunk.values, dtype="<f8")
        self.snapshot_bytes += len(chunk.values)
        if chunk.offset + values.size > n:
            return None
        key = (node, chunk.iteration, chunk.result)
        model = self._pieces.setdefault(key, np.empty(n))
        model[chunk.offset : chunk.offset + values.size] = values
        if chunk.offset + values.size < n:
            return None
        return self._pieces.pop(key)

    def _point_by_iteration(self, node: int, k: int, model: Vector, seconds: float) -> Decision | None:
        if not self._evaluator.due(k):
            return None
        running = self._running.setdefault(k, _Running(np.zeros_like(model)))
        running.add(node, model)
        if running.count < self._setting.topology.nodes:
            return None
        del self._running[k]
        sent = sum(size for iteration, size in self._sent_at.items() if iteration < k)
        decides = not self._by_time
        reason = self._evaluator.judge(running.mean, running.consensus, k, seconds, "iteration", decides, sent)
        return Decision(reason, k) if reason else None

    def _point_by_time(self, seconds: float, alive: Iterable[int]) -> Decision | None:
        alive = set(alive)
        nodes = [node for node in sorted(alive) if self.latest_iteration[node] >= 0]
        if not nodes or (self._last_by_time < 0 and len(nodes) < len(alive)):
            return None
        every = self._setting.evaluate_every
        due = int(self.latest_iteration[nodes].mean()) // every * every
        if due <= self._last_by_time:
            return None
        self._last_by_time = due
        models = self.latest[nodes]
        decides = self._by_time
        reason = self._evaluator.evaluate(models, due, seconds, "time", decides, self.bytes)
        return Decision(reason, due) if reason else None


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
    )
