"""A message that its sender drops by the clock, or for want of room: the receiver could not know, the sender does."""

import numpy as np
import pytest

from pame.algorithms import SPECS, Algorithm, Received
from pame.algorithms.dmgt_svrg import DmgtSvrg
from pame.algorithms.nids import Nids
from pame.algorithms.replica_node import ReplicaNode
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from tests.pame.algorithms.harness import EDGES, neighbours_in
from tests.pame.algorithms.oracle import problem_of, setting_of, suboptimality

REPLICAS = ("choco", "beer", "anq-nids", "dcd-psgd", "squarm")
LOST_AT, SENDER, RECEIVER = 7, 0, 1


def driven(nodes: list[Algorithm], iterations: int, told: int = LOST_AT) -> Matrix:
    """One message is dropped; everything else arrives. `told`: of which iteration its sender hears that it is lost."""
    for k in range(iterations):
        for node in nodes:
            node.prepare(k)
        received: list[list[Received]] = [[] for _ in nodes]
        for sender, node in enumerate(nodes):
            receivers = node.receivers(k)
            message = node.message(k) if receivers else {}
            for receiver in receivers:
                if (sender, receiver, k) == (SENDER, RECEIVER, LOST_AT):
                    node.missed(receiver, told)
                else:
                    received[receiver].append(Received(sender, k, message, 0))
        for node, came in zip(nodes, received, strict=True):
            if node.wanted(k) is not None:
                node.absorb(k, came)
            node.step(k)
    return np.stack([node.model for node in nodes])


def setting(kind: str, **values: object) -> ResolvedRun:
    return setting_of(SPECS[kind](**values), problem_of())


@pytest.mark.parametrize("kind", REPLICAS)
def test_a_replica_that_missed_an_update_is_whole_again_at_the_next_round(kind: str) -> None:
    nodes = setting(kind, eta=0.02).nodes()
    driven(nodes, LOST_AT + 2)
    for i, node in enumerate(nodes):
        assert isinstance(node, ReplicaNode)
        for j in neighbours_in(EDGES, i):
            other = nodes[j]
            assert isinstance(other, ReplicaNode)
            for name in node.replicas.names:
                assert np.array_equal(node.replicas.others(name)[j], other.replicas.own(name))
    assert nodes[RECEIVER].desynchronised == 1


@pytest.mark.parametrize("kind", REPLICAS)
def test_naively_it_stays_wrong(kind: str) -> None:
    nodes = setting(kind, eta=0.02, on_loss="naive").nodes()
    driven(nodes, LOST_AT + 2)
    node, other = nodes[RECEIVER], nodes[SENDER]
    assert isinstance(node, ReplicaNode)
    assert isinstance(other, ReplicaNode)
    names = node.replicas.names
    assert any(np.any(node.replicas.others(name)[SENDER] != other.replicas.own(name)) for name in names)


@pytest.mark.parametrize(
    ("kind", "eta", "iterations"),
    [("beer", 0.1, 2600), ("anq-nids", 0.5, 900), ("nids", 0.8, 400), ("dmgt-svrg", 0.1, 900)],
)
def test_the_optimum_is_still_reached(kind: str, eta: float, iterations: int) -> None:
    made = setting(kind, eta=eta)
    models = driven(made.nodes(), iterations)
    assert max(suboptimality(made, model[np.newaxis]) for model in models) < 1e-8


def test_what_flows_over_an_edge_stays_opposite_at_its_ends() -> None:
    nids = [node for node in setting("nids", eta=0.8).nodes() if isinstance(node, Nids)]
    driven(list(nids), 40)
    assert np.abs(np.sum([node.dual for node in nids], axis=0)).max() < 1e-12
    gaps = [node.desynchronised for node in nids]
    assert gaps == [int(node == RECEIVER) for node in range(len(nids))]  # the sender knows why it leaves the edge out
    tracking = [node for node in setting("dmgt-svrg", eta=0.05).nodes() if isinstance(node, DmgtSvrg)]
    driven(list(tracking), 40)
    for node in tracking:
        node.prepare(40)
    trackers, gradients = (
        np.sum([getattr(node, name) for node in tracking], axis=0) for name in ("tracker", "estimate")
    )
    np.testing.assert_allclose(trackers, gradients, rtol=0.0, atol=1e-12)


def test_behind_what_waited_too_long_that_of_today_is_late_as_well_and_perhaps_it_is_not() -> None:
    nids = [node for node in setting("nids", eta=0.8).nodes() if isinstance(node, Nids)]
    driven(list(nids), 40, told=LOST_AT - 3)
    assert np.abs(np.sum([node.dual for node in nids], axis=0)).max() < 1e-12
    assert [node.desynchronised for node in nids] == [int(node in (SENDER, RECEIVER)) for node in range(len(nids))]
