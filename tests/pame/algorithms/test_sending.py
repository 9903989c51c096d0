"""Whom the algorithms send to, and what: over drawn edges, beyond the graph, silence as a message of its own."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from pame.algorithms import DcdPsgdSpec, DpsgdSpec, EpidemicSpec, Selection, SquarmSpec, Who
from pame.algorithms.replica_node import ReplicaNode
from pame.byte_account import Fate
from pame.compressors import Quantize
from tests.pame.algorithms.builders import (
    ALWAYS,
    EDGES,
    ITERATIONS,
    NEIGHBOURS,
    NODES,
    SEED,
    graph,
    logistic,
    setting_of,
)
from tests.pame.algorithms.harness import all_of, drive, driven, simulated
from tests.pame.algorithms.oracle import active_edges

SQUARM = SquarmSpec(eta=0.01, momentum=0.8, threshold=300.0)


def test_mutual_edges_carry_a_message_each_way_and_no_other_is_sent() -> None:
    _, account = simulated(setting_of(DpsgdSpec(participation=0.5, draw="mutual"), logistic()))
    edges = sum(len(active_edges(k, ALWAYS, 0.5)) for k in range(ITERATIONS))
    assert 0 < edges < 0.7 * ITERATIONS * len(EDGES)
    assert account.messages(Fate.SENT) == 2 * edges


@pytest.mark.parametrize("sampling", ["local", "oracle"])
def test_messages_of_epidemic_learning_cross_the_edges_of_the_topology(sampling: Literal["local", "oracle"]) -> None:
    links = simulated(setting_of(EpidemicSpec(sampling=sampling, fan_out=2), logistic()))[1].links()
    used = {(min(i, j), max(i, j)) for i, j in zip(links.sender.tolist(), links.receiver.tolist(), strict=True)}
    assert len(used) == NODES * (NODES - 1) // 2
    assert used - set(EDGES)


def test_a_local_node_sends_fan_out_messages_whatever_it_receives() -> None:
    _, account = simulated(setting_of(EpidemicSpec(fan_out=3), logistic()))
    assert account.messages(Fate.SENT) == 3 * NODES * ITERATIONS


def test_every_node_computes_the_same_graph_by_itself_and_another_at_every_iteration() -> None:
    everybody = graph(16, tuple((i, i + 1) for i in range(15)))
    ours, theirs = (Selection(SEED, everybody, (1,) * 16, 1.0, who=Who.REGULAR, fan_out=4) for _ in range(2))
    drawn = [[ours.receivers(node, k) for node in range(16)] for k in range(20)]
    assert drawn[::-1] == [[theirs.senders(node, k) for node in range(16)] for k in reversed(range(20))]
    assert len({tuple(each) for each in drawn}) == 20


def test_a_fan_out_beyond_everybody_reaches_everybody_and_agrees_at_once() -> None:
    setting = setting_of(EpidemicSpec(fan_out=99, eta=0.5), logistic())
    for models in drive(setting.nodes(), 3)[1:]:
        assert np.ptp(models, axis=0).max() < 1e-14


def test_every_replica_of_dcd_psgd_is_the_model_itself() -> None:
    setting = setting_of(DcdPsgdSpec(eta=0.05, compressor=Quantize(bits=4)))
    driven(setting, nodes := setting.nodes())
    for i, node in enumerate(all_of(ReplicaNode, nodes)):
        for j in NEIGHBOURS[i]:
            assert np.array_equal(node.others("x")[j], nodes[j].model)


def test_silence_is_a_message_of_its_own_and_not_taken_for_a_loss() -> None:
    setting = setting_of(replace(SQUARM, threshold=1e12))
    driven(setting, nodes := setting.nodes())
    outcome, account = simulated(setting)
    assert account.messages(Fate.SENT) == ITERATIONS * sum(map(len, NEIGHBOURS))
    assert account.kinds.values == 0
    assert outcome.exact
    for node in nodes:
        assert node.message(0) == {}
        assert frozenset() in node.bundles
        assert node.desynchronised == 0


def test_a_higher_threshold_is_silent_more_often_and_never_speaks_below_it() -> None:
    loud, quiet = (
        simulated(setting_of(replace(SQUARM, threshold=c), periods=(2,) * NODES, iterations=60))[1].bytes(Fate.SENT)
        for c in (0.0, 1000.0)
    )
    assert 0 < quiet < 0.8 * loud
