"""A message that its sender drops by the clock, or for want of room: the receiver could not know, the sender does."""

import numpy as np
import pytest

from pame.algorithms import SPECS, Algorithm
from pame.algorithms.dmgt_svrg import DmgtSvrg
from pame.algorithms.nids import Nids
from pame.algorithms.replica_node import ReplicaNode
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from tests.pame.algorithms.builders import NEIGHBOURS, logistic, setting_of
from tests.pame.algorithms.harness import all_of, drive, worst

REPLICAS = ("choco", "beer", "anq-nids", "dcd-psgd", "squarm")
LOST_AT, SENDER, RECEIVER = 7, 0, 1


def driven(nodes: list[Algorithm], iterations: int, told: int = LOST_AT) -> Matrix:
    """One message is dropped; everything else arrives. `told`: of which iteration its sender hears that it is lost."""

    def lost(sender: int, receiver: int, k: int) -> bool:
        is_lost = (sender, receiver, k) == (SENDER, RECEIVER, LOST_AT)
        if is_lost:
            nodes[sender].missed(receiver, told)
        return is_lost

    return drive(nodes, iterations, lost)[-1]


def setting(kind: str, **values: object) -> ResolvedRun:
    return setting_of(SPECS[kind](**values), logistic())


@pytest.mark.parametrize("kind", REPLICAS)
def test_a_replica_that_missed_an_update_is_whole_again_at_the_next_round(kind: str) -> None:
    nodes = setting(kind, eta=0.02).nodes()
    driven(nodes, LOST_AT + 2)
    replicas = all_of(ReplicaNode, nodes)
    for i, ours in enumerate(replicas):
        for j in NEIGHBOURS[i]:
            for name in ours.names:
                assert np.array_equal(ours.others(name)[j], replicas[j].own(name))
    assert nodes[RECEIVER].desynchronised == 1


@pytest.mark.parametrize("kind", REPLICAS)
def test_naively_it_stays_wrong(kind: str) -> None:
    nodes = setting(kind, eta=0.02, on_loss="naive").nodes()
    driven(nodes, LOST_AT + 2)
    node, other = all_of(ReplicaNode, [nodes[RECEIVER], nodes[SENDER]])
    assert any(np.any(node.others(name)[SENDER] != other.own(name)) for name in node.names)


@pytest.mark.parametrize(
    ("kind", "eta", "iterations"),
    [("beer", 0.1, 2600), ("anq-nids", 0.5, 900), ("nids", 0.8, 400), ("dmgt-svrg", 0.1, 900)],
)
def test_the_optimum_is_still_reached(kind: str, eta: float, iterations: int) -> None:
    made = setting(kind, eta=eta)
    assert worst(made, driven(made.nodes(), iterations)) < 1e-8


@pytest.mark.parametrize(
    ("told", "unaware"),
    [(LOST_AT, {RECEIVER}), (LOST_AT - 3, {SENDER, RECEIVER})],
    ids=["the sender knows why it leaves the edge out", "behind what waited too long that of today is late as well"],
)
def test_duals_stay_opposite_at_the_ends_of_an_edge(told: int, unaware: set[int]) -> None:
    driven(nodes := setting("nids", eta=0.8).nodes(), 40, told)
    nids = all_of(Nids, nodes)
    assert np.abs(np.sum([node.dual for node in nids], axis=0)).max() < 1e-12
    assert [node.desynchronised for node in nids] == [int(node in unaware) for node in range(len(nids))]


def test_trackers_stay_the_sum_of_the_gradients() -> None:
    driven(nodes := setting("dmgt-svrg", eta=0.05).nodes(), 40)
    tracking = all_of(DmgtSvrg, nodes)
    for node in tracking:
        node.prepare(40)
    trackers, gradients = (
        np.sum([getattr(node, name) for node in tracking], axis=0) for name in ("tracker", "estimate")
    )
    np.testing.assert_allclose(trackers, gradients, rtol=0.0, atol=1e-12)
