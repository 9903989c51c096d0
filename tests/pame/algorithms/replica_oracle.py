"""What the tests of algorithms with replicas share: a small problem, and a slow model of who knows what of whom.

`Gossip` keeps every node's copy of every surrogate in one array and applies each message at once, written from the
rules alone; the algorithms' own tests build their equations on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import ceil

import numpy as np

from pame.algorithms import Algorithm, Received
from pame.algorithms.replica_node import ReplicaNode
from pame.algorithms.replica_spec import ReplicaSpec
from pame.byte_account import ByteAccount
from pame.compressors import expand
from pame.observe import RunOutcome
from pame.problems import LinearSpec
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.randomness import Key, Purpose
from pame.resolved_run import ResolvedRun
from pame.rules import Messages, Values
from pame.sampling import candidates, message_lost
from pame.simulator import DRIVERS
from pame.stopping import StopRules
from tests.pame.algorithms.harness import EDGES, Watcher, graph, neighbours_in
from tests.pame.algorithms.oracle import rests

SEED, NODES, N, ITERATIONS = 3, 6, 20, 20
NEIGHBOURS = [neighbours_in(EDGES, node) for node in range(NODES)]

SCHEDULES = [
    ((1,) * 6, 1.0),
    ((1,) * 6, 0.5),
    ((2,) * 6, 1.0),
    ((2,) * 6, 0.5),
    ((1, 2, 3, 2, 1, 4), 0.5),
]
"""Periods and participation."""


@cache
def problem_of(batch: int | None = None) -> Regression:
    spec = LinearSpec(n=N, samples=40, batch=batch, nonzeros=0.5, feature_shift=0.5, test_samples=5)
    return spec.build(NODES, SEED)


def setting_of(
    spec: ReplicaSpec,
    periods: tuple[int, ...] = (1,) * NODES,
    loss: float = 0.0,
    iterations: int = ITERATIONS,
    batch: int | None = None,
    values: Values = "float64",
) -> ResolvedRun:
    return ResolvedRun(
        seed=SEED,
        topology=graph(),
        problem=problem_of(batch),
        algorithm=spec,  # type: ignore[arg-type]
        periods=periods,
        stop=StopRules(iterations),
        messages=Messages(loss=loss, values=values),
        evaluate_every=50,
    )


def nodes_of(setting: ResolvedRun) -> list[ReplicaNode]:
    return [node for node in setting.nodes() if isinstance(node, ReplicaNode)]


def driven(setting: ResolvedRun, nodes: Sequence[Algorithm] | None = None) -> list[Matrix]:
    """The models before each iteration, in lock step; a message waits for the next round of its receiver."""
    nodes = setting.nodes() if nodes is None else nodes
    inboxes: list[list[Received]] = [[] for _ in nodes]
    history = [np.stack([node.model for node in nodes])]
    for k in range(setting.stop.last_iteration):
        for node in nodes:
            node.prepare(k)
        for sender, node in enumerate(nodes):
            for receiver in node.receivers(k):
                if not message_lost(SEED, sender, receiver, k, setting.messages.loss):
                    inboxes[receiver].append(Received(sender, k, node.message(k), 0))
        for i, node in enumerate(nodes):
            if node.wanted(k) is not None:
                node.absorb(k, inboxes[i])
                inboxes[i] = []
        for node in nodes:
            node.step(k)
        history.append(np.stack([node.model for node in nodes]))
    return history


def simulated(setting: ResolvedRun, driver: str = "lock-step") -> tuple[RunOutcome, ByteAccount]:
    ledger = ByteAccount(setting.topology.nodes)
    return DRIVERS[driver](setting, Watcher(), ledger), ledger


def gradients(setting: ResolvedRun, models: Matrix, k: int) -> Matrix:
    return np.stack([setting.problem.local(i).gradient(models[i], k) for i in range(NODES)])


def suboptimality(setting: ResolvedRun, models: Matrix) -> float:
    """f(mean model) - f*, over the same at w = 0."""
    problem = setting.problem
    best = problem.optimum().objective
    return (problem.objective(models.mean(axis=0)) - best) / (problem.objective(np.zeros(N)) - best)


def worst(setting: ResolvedRun, models: Matrix) -> float:
    """The same of the node that is farthest from the optimum."""
    return max(suboptimality(setting, model[np.newaxis]) for model in models)


def distance(setting: ResolvedRun, models: Matrix) -> float:
    """How far the models are from the optimum, over how far it is from 0."""
    best = setting.problem.optimum().model
    return float(np.linalg.norm(models - best) / np.linalg.norm(np.tile(best, (NODES, 1))))


class Gossip:
    """All copies of one surrogate per node, [holder, owner, coordinate]."""

    def __init__(self, setting: ResolvedRun, spec: ReplicaSpec, place: int = 0) -> None:
        self.setting, self.spec, self.place = setting, spec, place
        self.copies = np.zeros((NODES, NODES, N))
        self.behind = np.zeros((NODES, NODES), dtype=bool)
        self.agreed = np.zeros((NODES, NODES, N))
        self.mutual = np.ones((NODES, NODES), dtype=bool)

    @property
    def own(self) -> Matrix:
        return self.copies[np.arange(NODES), np.arange(NODES)]

    def is_round(self, i: int, k: int) -> bool:
        return k % self.setting.periods[i] == 0

    def is_lost(self, j: int, i: int, k: int) -> bool:
        return message_lost(SEED, j, i, k, self.setting.messages.loss)

    def exchange(self, k: int, vectors: Matrix, speaks: Callable[[int], bool] = lambda _j: True) -> None:
        """Everybody at a round sends; whoever receives applies at once."""
        for j in range(NODES):
            if self.is_round(j, k):
                self._send(k, j, vectors[j] if speaks(j) else None)
        for i, j in (*EDGES, *(pair[::-1] for pair in EDGES)):
            if self.is_round(i, k) and self.is_round(j, k):
                self.agreed[i, j] = self.copies[i, j] - self.copies[i, i]
                self.mutual[i, j] = self._both_know(i, j, k)

    def _send(self, k: int, j: int, vector: Matrix | None) -> None:
        update = np.zeros(N)
        if vector is not None:
            key = Key(SEED, Purpose.COMPRESSION, j, k, self.place)
            update = expand(self.spec.compressor.compress(vector - self.copies[j, j], key))
        self.copies[j, j] += update
        rounds = k // self.setting.periods[j] + 1
        is_whole = self.spec.on_loss == "resync" and rounds % self.spec.resync_every == 0
        for i in NEIGHBOURS[j]:
            if self.is_lost(j, i, k):
                self.behind[i, j] = True
            elif is_whole or self.spec.on_loss == "acknowledged":
                self.copies[i, j] = self.copies[j, j]
                self.behind[i, j] = False
            elif self.spec.on_loss == "naive" or not self.behind[i, j]:
                self.copies[i, j] += update

    def _both_know(self, i: int, j: int, k: int) -> bool:
        match self.spec.on_loss:
            case "acknowledged":
                return not (self.is_lost(i, j, k) or self.is_lost(j, i, k))
            case "resync":
                return not (self.behind[i, j] or self.behind[j, i])
        return True

    def matrix(self, k: int) -> Matrix:
        """Q where both ends are at a round, have drawn each other, and know each other."""
        q = np.zeros((NODES, NODES))
        for i, j in EDGES:
            if self.is_round(i, k) and self.is_round(j, k) and j in self._drawn(i, k) and i in self._drawn(j, k):
                known = float(self.mutual[i, j] and self.mutual[j, i])
                q[i, j] = q[j, i] = known / (1 + max(len(NEIGHBOURS[i]), len(NEIGHBOURS[j])))
        return q

    def _drawn(self, i: int, k: int) -> tuple[int, ...]:
        degree = len(NEIGHBOURS[i])
        return candidates(SEED, i, k, NEIGHBOURS[i], max(1, ceil(self.spec.participation * degree - 1e-9)))

    def pull(self, k: int) -> Matrix:
        """sum_j Q_ij (s_j - s_i), row by row."""
        return np.einsum("ij,ijn->in", self.matrix(k), self.agreed)

    def often(self) -> Matrix:
        """Every how many iterations an edge is active, on average."""
        return rests(self.setting.periods, self.spec.participation)


def with_loss(spec: ReplicaSpec, on_loss: str, resync_every: int = 1) -> ReplicaSpec:
    return replace(spec, on_loss=on_loss, resync_every=resync_every)


LOSSES = [
    ("acknowledged", (1,) * 6),
    ("acknowledged", (1, 2, 3, 2, 1, 4)),
    ("resync", (1,) * 6),
    ("resync", (1, 2, 3, 2, 1, 4)),
    ("naive", (1,) * 6),
    ("naive", (2,) * 6),
]
"""The answers to a loss, and periods."""
