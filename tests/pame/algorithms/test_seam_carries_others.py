"""The interface carries a toy that keeps replicas in its own way, and epidemic learning, which talks to anybody."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

from pame.algorithms import (
    AlgorithmSpec,
    Context,
    Delivery,
    EpidemicSpec,
    Form,
    Message,
    NodeBase,
    Received,
    Wanted,
    Who,
)
from pame.byte_account import Fate
from pame.exchange import PartialMessage, Vector, reveal
from pame.links import LinkSpec
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from pame.sampling import support
from pame.stopping import StopRules
from pame.topology import mixing_row
from tests.pame.algorithms.builders import EDGES, Pulls, graph
from tests.pame.algorithms.harness import simulated

TARGETS = np.array(
    [
        [4.0, -2.0, 8.0, 0.0, 1.0],
        [0.0, 6.0, 2.0, 2.0, 1.0],
        [8.0, 2.0, -6.0, 4.0, 1.0],
        [4.0, 2.0, 4.0, -2.0, 1.0],
        [1.0, 0.0, 3.0, 7.0, 1.0],
        [-5.0, 4.0, 1.0, 1.0, 1.0],
    ]
)
SEED = 13
REVEALED = 3


@dataclass
class TrackingSpec:
    """Gradient tracking on compressed surrogates, after BEER.

    x <- x + gam sum_j Q_ij (h_j - h_i) - eta v,    h += C(x - h)     C keeps s random coordinates
    v <- v + gam sum_j Q_ij (g_j - g_i) + grad(new x) - grad(x),    g += v - g     sent whole
    """

    eta: float = 0.1
    gam: float = 1.0
    kind: str = "tracking"
    share: float = 1.0
    who: Who = Who.CHOSEN
    fan_out: int = 0
    every: int = 1
    made: list["Tracking"] = field(default_factory=list)

    def first_step(self, enough: int) -> float:
        return self.eta

    def node(self, context: Context) -> "Tracking":
        self.made.append(Tracking(self, context))
        return self.made[-1]


class Tracking(NodeBase):
    """One node: x, v, and for itself and each neighbour the surrogates h and g."""

    delivery = Delivery.IN_ORDER
    vectors: ClassVar = {"h": Form.PARTIAL, "g": Form.DENSE}
    bundles: ClassVar = [frozenset({"h", "g"})]

    def __init__(self, spec: TrackingSpec, context: Context) -> None:
        super().__init__(context)
        self.spec, self.context = spec, context
        self.weights = mixing_row(context.topology, context.node, "metropolis")
        self.gradient = context.objective.gradient(self._model, 0)
        self.v = self.gradient
        self.h = {j: np.zeros_like(self._model) for j in self.weights}
        self.g = {j: np.zeros_like(self._model) for j in self.weights}
        self.heard: list[tuple[int, int]] = []
        self._outgoing: Message = {}

    def prepare(self, k: int) -> None:
        node, n = self.context.node, self._model.size
        revealed = reveal(self._model - self.h[node], support(self.context.seed, node, k, n, REVEALED))
        self._outgoing = {"h": revealed, "g": self.v - self.g[node]}
        self._advance(node, self._outgoing)

    def receivers(self, k: int) -> Sequence[int]:
        return self.context.topology.neighbours(self.context.node)

    def message(self, k: int) -> Message:
        return self._outgoing

    def wanted(self, k: int) -> Wanted | None:
        senders = tuple(self.receivers(k))
        return Wanted(senders, len(senders)) if k % self.spec.every == 0 else None

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        for one in received:
            self.heard.append((one.sender, one.iteration))
            self._advance(one.sender, one.message)
        return float(len(received))

    def step(self, k: int) -> None:
        self._model = self._model + self._pull(self.h) - self.spec.eta * self.v
        before, self.gradient = self.gradient, self.context.objective.gradient(self._model, k + 1)
        self.v = self.v + self._pull(self.g) + self.gradient - before

    def _advance(self, node: int, message: Message) -> None:
        partial, dense = message["h"], message["g"]
        assert isinstance(partial, PartialMessage)
        assert isinstance(dense, np.ndarray)
        self.h[node] = self.h[node].copy()
        self.h[node][partial.support] += partial.values
        self.g[node] = self.g[node] + dense

    def _pull(self, surrogates: dict[int, Vector]) -> Vector:
        own = surrogates[self.context.node]
        total = np.zeros_like(own)
        for j, weight in self.weights.items():
            total += weight * (surrogates[j] - own)
        return self.spec.gam * total


def setting_of(algorithm: AlgorithmSpec, targets: Matrix, iterations: int, until: float = np.inf) -> ResolvedRun:
    nodes = len(targets)
    edges = EDGES if nodes == len(TARGETS) else tuple(sorted((i, i + 1) for i in range(nodes - 1)))
    problem = Pulls(targets, until)
    return ResolvedRun(SEED, graph(nodes, edges), problem, algorithm, (1,) * nodes, StopRules(iterations))


def test_an_algorithm_with_replicas_finds_the_optimum_and_every_replica_equals_its_original() -> None:
    spec = TrackingSpec()
    outcome, account = simulated(setting_of(spec, TARGETS, 400))
    np.testing.assert_allclose(outcome.models, np.tile(TARGETS.mean(axis=0), (6, 1)), rtol=0.0, atol=1e-9)
    assert outcome.exact
    for node in spec.made:
        for j in node.weights:
            assert np.array_equal(node.h[j], spec.made[j].h[j])
            assert np.array_equal(node.g[j], spec.made[j].g[j])
    assert account.messages(Fate.SENT) == account.messages(Fate.AGGREGATED) == 400 * 2 * len(EDGES)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("driver", ["lock-step", "virtual-time"])
def test_every_message_of_every_neighbour_is_handed_over_in_order_or_kept_for_the_next_round(
    driver: str, every: int
) -> None:
    spec = TrackingSpec(every=every)
    outcome, account = simulated(replace(setting_of(spec, TARGETS, 10), link=LinkSpec(0.003, 0.002, 1e6)), driver)
    assert outcome.exact
    assert account.messages(Fate.LATE) == 0
    for node in spec.made:
        for neighbour in node.context.topology.neighbours(node.context.node):
            assert [k for sender, k in node.heard if sender == neighbour] == list(range(10))


def test_a_message_of_several_vectors_is_accounted_with_all_of_them() -> None:
    _, account = simulated(setting_of(TrackingSpec(), TARGETS + 100.0, 3))
    values = 8 * (REVEALED + TARGETS.shape[1])
    # at k = 0 the models are zero, so the partial vector is all stars and only the dense one has values
    assert account.kinds.values == 2 * len(EDGES) * (3 * values - 8 * REVEALED)


def test_when_everybody_sends_to_everybody_one_iteration_ends_in_the_exact_mean() -> None:
    # four nodes on a line, targets that are multiples of a quarter: no rounding anywhere
    outcome, account = simulated(setting_of(EpidemicSpec(fan_out=3, eta=1.0), TARGETS[:4], 1))
    assert outcome.models.tolist() == [[4.0, 2.0, 2.0, 1.0, 1.0]] * 4
    assert account.messages(Fate.SENT) == 12
    assert outcome.exact


def test_epidemic_averaging_ends_in_consensus_inside_the_range_of_the_starts() -> None:
    outcome, _ = simulated(setting_of(EpidemicSpec(fan_out=2, eta=1.0), TARGETS, 120, until=1))
    assert np.ptp(outcome.models, axis=0).max() < 1e-9
    assert np.all(outcome.models >= TARGETS.min(axis=0) - 1e-12)
    assert np.all(outcome.models <= TARGETS.max(axis=0) + 1e-12)


def test_a_clock_changes_no_bit() -> None:
    expected, _ = simulated(setting_of(TrackingSpec(), TARGETS, 40))
    timed = replace(setting_of(TrackingSpec(), TARGETS, 40), link=LinkSpec(0.005, 0.004, 1e6))
    outcome, account = simulated(timed, "virtual-time")
    assert np.array_equal(outcome.models, expected.models)
    assert account.messages(Fate.LATE) == 0
