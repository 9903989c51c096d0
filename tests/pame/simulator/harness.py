"""Small worlds for the simulator's tests, and a spy that notes what the algorithm objects were asked and told."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pame import problems
from pame.algorithms import (
    Algorithm,
    AlgorithmSpec,
    Context,
    Delivery,
    DpsgdSpec,
    FixedStep,
    Form,
    Message,
    PameSpec,
    Received,
    Wanted,
    Who,
)
from pame.byte_account import ByteAccount
from pame.observe import Evaluation, Record, RunOutcome
from pame.problems import LinearSpec, LogisticSpec
from pame.resolved_run import ResolvedRun
from pame.simulator import DRIVERS
from pame.stopping import StopRules
from pame.topology import Topology
from pame.topology.graph import canonical
from tests.harness import Watcher

Vector = NDArray[np.float64]

LINEAR = LinearSpec(n=24, samples=12, nonzeros=0.2, test_samples=20)
LOGISTIC = LogisticSpec(n=24, samples=12, nonzeros=0.2, test_samples=20)
PAME = PameSpec(participation=0.5, support=0.25, step=FixedStep(eta=0.05, gamma=1.001))
DPSGD = DpsgdSpec(eta=0.05)

UNEQUAL = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0), (0, 2), (0, 3), (0, 4), (0, 5), (2, 6))
"""A ring of eight with chords: degrees 6, 2, 4, 3, 3, 3, 3, 2."""
PERIODS = (1, 2, 3, 2, 4, 3, 2, 5)


def graph(pairs: Sequence[tuple[int, int]]) -> Topology:
    nodes = 1 + max(max(pair) for pair in pairs)
    return Topology(nodes, canonical(np.array(pairs), nodes))


def all_pairs(nodes: int) -> list[tuple[int, int]]:
    return [(i, j) for j in range(nodes) for i in range(j)]


def world(
    pairs: Sequence[tuple[int, int]] = UNEQUAL,
    periods: tuple[int, ...] = PERIODS,
    iterations: int = 20,
    problem: problems.ProblemSpec = LINEAR,
    algorithm: AlgorithmSpec = PAME,
    seed: int = 7,
) -> ResolvedRun:
    """Eight unequal nodes on a small regression; tests change what they are about with `replace`."""
    topology = graph(pairs)
    built = problems.build(problem, topology.nodes, seed)
    return ResolvedRun(seed, topology, built, algorithm, periods, StopRules(iterations), evaluate_every=5)


@dataclass(frozen=True)
class Run:
    """All that can be known of a run: what the driver says, and what the spy saw."""

    outcome: RunOutcome
    account: ByteAccount
    evaluations: list[Evaluation]
    records: list[Record]
    log: "Log"

    def curve(self, by: str) -> dict[int, Evaluation]:
        return {point.iteration: point for point in self.evaluations if point.by == by}


@dataclass
class Log:
    models: dict[tuple[int, int], Vector] = field(default_factory=dict)
    """w^k by (node, k)."""
    messages: dict[tuple[int, int], Message] = field(default_factory=dict)
    """By (sender, k)."""
    absorbed: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)
    """By (node, k): (sender, tag) of each message."""


def run(driver: str, setting: ResolvedRun, spied: bool = True) -> Run:
    """Run a setting; the vectorised driver has no algorithm objects to spy on."""
    log, watch, account = Log(), Watcher(), ByteAccount(setting.topology.nodes)
    if spied:
        setting = replace(setting, algorithm=_SpiedSpec(setting.algorithm, log))
    outcome = DRIVERS[driver](setting, watch, account)
    return Run(outcome, account, watch.points, watch.records, log)


def same_bits(a: Vector, b: Vector) -> bool:
    """Equality that tells 0.0 from -0.0."""
    return a.shape == b.shape and bool(np.array_equal(a.view(np.int64), b.view(np.int64)))


def same_as_far_as_it_goes(found: Run, reference: Run, held: bool = False) -> None:
    """Everything but the clock, up to where each node was when the run ended: models, messages, records, curve.

    `held`: a cut held messages, which are sent, and so recorded, later.
    """
    clock: dict[str, Any] = {"seconds": None, "waited_s": None} | ({"messages": 0, "bytes": 0} if held else {})
    assert found.log.models.keys() <= reference.log.models.keys()
    assert all(same_bits(model, reference.log.models[key]) for key, model in found.log.models.items())
    for node, model in enumerate(found.outcome.models):
        newest = max(k for i, k in found.log.models if i == node)
        assert same_bits(model, reference.log.models[node, newest])
    for key, heard in found.log.absorbed.items():
        assert sorted(heard) == sorted(reference.log.absorbed[key])
    expected = {(r.node, r.iteration): r._replace(**clock) for r in reference.records}
    for record in found.records:
        assert record._replace(**clock) == expected[record.node, record.iteration]
    points = reference.curve("iteration")
    for k, point in found.curve("iteration").items():
        assert (point.objective, point.consensus, point.metrics) == (
            points[k].objective,
            points[k].consensus,
            points[k].metrics,
        )
        assert held or point.bytes == points[k].bytes


@dataclass(frozen=True)
class _SpiedSpec:
    inner: AlgorithmSpec
    log: Log

    @property
    def kind(self) -> str:
        return self.inner.kind

    @property
    def share(self) -> float:
        return self.inner.share

    @property
    def who(self) -> Who:
        return self.inner.who

    @property
    def fan_out(self) -> int:
        return self.inner.fan_out

    def first_step(self, enough: int) -> float:
        return self.inner.first_step(enough)

    def node(self, context: Context) -> Algorithm:
        return _SpiedNode(self.inner.node(context), context.node, self.log)


class _SpiedNode:
    def __init__(self, inner: Algorithm, index: int, log: Log) -> None:
        self._inner, self._index, self._log = inner, index, log
        log.models[index, 0] = inner.model.copy()

    @property
    def delivery(self) -> Delivery:
        return self._inner.delivery

    @property
    def desynchronised(self) -> int:
        return self._inner.desynchronised

    @property
    def vectors(self) -> Mapping[str, Form]:
        return self._inner.vectors

    @property
    def lengths(self) -> Mapping[str, int]:
        return self._inner.lengths

    @property
    def bundles(self) -> Collection[frozenset[str]]:
        return self._inner.bundles

    def missed(self, neighbour: int, k: int) -> None:
        self._inner.missed(neighbour, k)

    def greet(self, neighbour: int) -> None:
        self._inner.greet(neighbour)

    @property
    def model(self) -> Vector:
        return self._inner.model

    def prepare(self, k: int) -> None:
        self._inner.prepare(k)

    def receivers(self, k: int) -> Sequence[int]:
        return self._inner.receivers(k)

    def message(self, k: int) -> Message:
        message = self._inner.message(k)
        self._log.messages[self._index, k] = message
        return message

    def wanted(self, k: int) -> Wanted | None:
        return self._inner.wanted(k)

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        assert (self._index, k) not in self._log.absorbed, "absorb is asked for once per round"
        self._log.absorbed[self._index, k] = [(message.sender, message.iteration) for message in received]
        return self._inner.absorb(k, received)

    def step(self, k: int) -> None:
        self._inner.step(k)
        assert (self._index, k + 1) not in self._log.models, "a node takes each step once"
        self._log.models[self._index, k + 1] = self._inner.model.copy()
