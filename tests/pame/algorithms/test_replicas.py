"""Replicas: the same bits as their originals, gaps seen and counted, whole surrogates after a comeback, any driver."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest

from pame.algorithms import (
    Algorithm,
    AnqNidsSpec,
    BeerSpec,
    ChocoSpec,
    DcdPsgdSpec,
    Delivery,
    Message,
    Received,
    SquarmSpec,
    Who,
)
from pame.algorithms.choco import Choco
from pame.algorithms.replica_node import ReplicaNode
from pame.byte_account import Fate
from pame.codec import Draw
from pame.codec.payloads import Wire, decode_payload, encode_payload
from pame.compressors import RandomK, TopK, expand, form_of
from pame.exchange import ValueType
from pame.fault_effects import CutEffect, FaultEvent, KillEffect, Window
from pame.randomness import Key, Purpose
from pame.rejoin import State
from pame.resolved_run import ResolvedRun
from pame.rules import Exchange, Values
from pame.sampling import message_lost
from tests.pame.algorithms.builders import (
    ITERATIONS,
    NEIGHBOURS,
    NODES,
    SEED,
    UNEQUAL,
    AnyReplicaSpec,
    Constant,
    N,
    OnLoss,
    context_of,
    setting_of,
    with_loss,
)
from tests.pame.algorithms.harness import all_of, drive, driven, simulated, suboptimality

ALL: list[AnyReplicaSpec] = [
    ChocoSpec(eta=0.05),
    BeerSpec(eta=0.05),
    AnqNidsSpec(eta=0.1),
    DcdPsgdSpec(eta=0.05),
    SquarmSpec(eta=0.01, threshold=300.0),
]
ANSWERS = ["acknowledged", "resync", "naive"]

every_algorithm = pytest.mark.parametrize("spec", ALL, ids=lambda spec: type(spec).__name__)


@every_algorithm
def test_whole_surrogates_change_bytes_and_no_bit_where_nothing_is_lost(spec: AnyReplicaSpec) -> None:
    plain, account = simulated(setting_of(spec))
    whole, larger = simulated(setting_of(with_loss(spec, "resync", 2)))
    assert np.array_equal(plain.models, whole.models)
    assert larger.bytes(Fate.SENT) > account.bytes(Fate.SENT)
    assert larger.desynchronised == account.desynchronised == 0


@every_algorithm
@pytest.mark.parametrize(
    ("on_loss", "every", "loss"), [("acknowledged", 4, 0.2), ("resync", 4, 0.0), ("resync", 1, 0.2), ("naive", 4, 0.0)]
)
@pytest.mark.parametrize("values", get_args(Values))
def test_replicas_of_whoever_was_heard_last_have_the_bits_of_their_originals(
    spec: AnyReplicaSpec, on_loss: OnLoss, every: int, loss: float, values: Values
) -> None:
    setting = setting_of(with_loss(spec, on_loss, every), loss=loss, values=values)
    driven(setting, nodes := setting.nodes())
    replicas = all_of(ReplicaNode, nodes)
    names = replicas[0].names
    heard = [
        (i, j) for i in range(NODES) for j in NEIGHBOURS[i] if not setting.conditions.is_lost(j, i, ITERATIONS - 1)
    ]
    assert (len(heard) < sum(map(len, NEIGHBOURS))) == (loss > 0.0)
    for i, j in heard:
        for name in names:
            assert np.array_equal(replicas[i].others(name)[j], replicas[j].own(name))
    assert any(np.any(replicas[0].own(name)) for name in names)


def spoken(setting: ResolvedRun) -> tuple[Algorithm, dict[tuple[int, int], Message]]:
    """A node after a run, and what all of them said, by sender and iteration."""
    messages: dict[tuple[int, int], Message] = {}
    nodes = setting.nodes()
    drive(nodes, setting.stop.last_iteration, setting.conditions.is_lost, messages)
    return nodes[0], messages


@every_algorithm
@pytest.mark.parametrize(("on_loss", "loss"), [("acknowledged", 0.2), ("resync", 0.0)])
def test_messages_are_what_the_algorithm_declares(spec: AnyReplicaSpec, on_loss: OnLoss, loss: float) -> None:
    setting = setting_of(with_loss(spec, on_loss, 3), periods=UNEQUAL, loss=loss, iterations=60)
    node, messages = spoken(setting)
    assert {frozenset(message) for message in messages.values()} == set(node.bundles)
    for message in messages.values():
        assert all(form_of(vector) == node.vectors[name].value for name, vector in message.items())
    assert node.delivery is Delivery.IN_ORDER


@pytest.mark.parametrize("spec", [*ALL, ChocoSpec(eta=0.05, compressor=RandomK())], ids=str)
@pytest.mark.parametrize(("on_loss", "loss"), [("acknowledged", 0.2), ("resync", 0.0)])
@pytest.mark.parametrize("values", get_args(Values))
def test_what_arrives_is_what_the_sender_applied_itself(
    spec: AnyReplicaSpec, on_loss: OnLoss, loss: float, values: Values
) -> None:
    node, messages = spoken(setting_of(with_loss(spec, on_loss, 3), loss=loss, values=values))
    for (sender, k), message in messages.items():
        draw = Draw(SEED, sender, k)
        for name, vector in message.items():
            data = encode_payload(vector, Wire(draw, values=ValueType[values.upper()]))
            arrived = decode_payload(data, node.vectors[name].value, N, draw)
            assert np.array_equal(expand(arrived), expand(vector))


def losses_followed_by_a_message(iterations: int, loss: float) -> int:
    """A gap is seen when the next message comes; several losses in a row are one gap."""
    gaps = 0
    for j in range(NODES):
        for i in NEIGHBOURS[j]:
            lost = [False, *(message_lost(SEED, j, i, k, loss) for k in range(iterations))]
            gaps += sum(before and not after for before, after in pairwise(lost))
    return gaps


@every_algorithm
@pytest.mark.parametrize("on_loss", ANSWERS)
def test_every_gap_is_counted_and_an_acknowledged_update_leaves_none(spec: AnyReplicaSpec, on_loss: OnLoss) -> None:
    _, account = simulated(setting_of(with_loss(spec, on_loss, 3), loss=0.2))
    expected = 0 if on_loss == "acknowledged" else losses_followed_by_a_message(20, 0.2)
    assert account.messages(Fate.LOST) > 0
    assert account.desynchronised == expected


def test_a_cut_by_iterations_is_an_exact_loss_like_any_other() -> None:
    links = ((0, 1), (1, 0), (2, 3), (3, 2))
    plan = (FaultEvent(0, "cut", CutEffect(links), Window(30, 60, "iterations")),)
    for spec in (BeerSpec(eta=0.05), AnqNidsSpec(eta=0.1)):
        setting = replace(setting_of(spec, iterations=90), plan=plan)
        (expected, _), (found, account) = simulated(setting), simulated(setting, "virtual-time")
        assert np.array_equal(found.models, expected.models)
        assert account.desynchronised == 0
        assert account.messages(Fate.LOST) == 4 * 30


SPEC = ChocoSpec(eta=1.0, gam=0.5, compressor=TopK(share=1.0))


def one_of_two(spec: ChocoSpec = SPEC, **context: Any) -> Choco:
    """Node 0 of a pair, driven by hand; its gradient is always -1, and nothing is compressed away."""
    return spec.node(context_of([0.0], Constant(np.array([-1.0])), who=Who.BROADCAST, **context))


def said(k: int, value: float) -> Received:
    return Received(1, k, {"q": TopK(share=1.0).compress(np.array([value]), Key(1, Purpose.COMPRESSION))}, 0)


def whole(k: int, value: float) -> Received:
    return Received(1, k, {"q_whole": np.array([value])}, 0)


def iterate(node: Choco, k: int, *received: Received) -> float:
    """The model after iteration k, without the gradient's part: what the neighbour pulled."""
    before = float(node.model[0])
    node.prepare(k)
    node.message(k)
    node.absorb(k, received)
    node.step(k)
    return float(node.model[0]) - before - 1.0


def replica(node: Choco) -> float:
    return float(node.others("q")[1][0])


def test_a_late_message_leaves_the_edge_out_and_is_applied_late() -> None:
    node = one_of_two()
    assert iterate(node, 0, said(0, 5.0)) == pytest.approx(0.25 * (5.0 - 1.0))
    assert iterate(node, 1) == 0.0
    assert replica(node) == 5.0
    surrogate = float(node.model[0]) + 1.0
    assert iterate(node, 2, said(1, 2.0), said(2, 1.0)) == pytest.approx(0.25 * (8.0 - surrogate))
    assert node.desynchronised == 0


class Flowing(ReplicaNode[ChocoSpec]):
    names = ("q",)
    flowing = "q"


def flowing() -> Flowing:
    """Node 0 of a pair, whose differences must not be missed; at iteration k its vector is k."""
    return Flowing(SPEC, context_of([0.0], who=Who.BROADCAST))


def exchange(replicas: Flowing, k: int, *received: Received) -> list[tuple[int, int, float, float]]:
    """What comes late at iteration k."""
    replicas.tell(k, {"q": np.array([float(k)])})
    replicas.absorb(k, received)
    return [(late.neighbour, late.iteration, late.weight, float(late.difference[0])) for late in replicas.late()]


def test_what_comes_late_is_the_difference_as_it_was_and_comes_once() -> None:
    replicas = flowing()
    assert exchange(replicas, 0, said(0, 5.0)) == []
    assert exchange(replicas, 1) == exchange(replicas, 2) == []
    assert exchange(replicas, 3, said(1, 2.0), said(2, 4.0), said(3, 1.0)) == [(1, 1, 0.5, 6.0), (1, 2, 0.5, 9.0)]
    assert (replicas.late(), replicas.desynchronised) == ([], 0)


def test_what_is_too_late_is_given_up_and_counted() -> None:
    replicas = flowing()
    for k in range(70):
        exchange(replicas, k)
    assert replicas.desynchronised == 70 - 64
    late = exchange(replicas, 70, *(said(k, 1.0) for k in range(71)))
    assert late == [(1, k, 0.5, 1.0) for k in range(6, 70)]
    assert replicas.desynchronised == 6


def test_nothing_is_made_up_for_behind_a_gap() -> None:
    replicas = flowing()
    for k in range(5):
        exchange(replicas, k)
    late = exchange(replicas, 5, *(said(k, 1.0) for k in (0, 1, 3, 4, 5)))
    assert [iteration for _, iteration, *_ in late] == [0, 1]
    assert replicas.desynchronised == 3


def test_a_gap_that_nobody_can_compute_leaves_the_replica_out_until_a_whole_surrogate_comes() -> None:
    node = one_of_two()
    iterate(node, 0, said(0, 5.0))
    iterate(node, 1)
    assert iterate(node, 2, said(2, 1.0)) == 0.0
    assert iterate(node, 3, said(3, 1.0)) == 0.0
    assert (replica(node), node.desynchronised) == (5.0, 1)
    assert iterate(node, 4, whole(4, 9.0)) != 0.0
    assert iterate(node, 5, said(5, 1.0)) != 0.0
    assert (replica(node), node.desynchronised) == (10.0, 1)


def test_naive_adds_what_comes_after_a_gap_and_still_counts_it() -> None:
    node = one_of_two(replace(SPEC, on_loss="naive"))
    iterate(node, 0, said(0, 5.0))
    iterate(node, 1)
    assert iterate(node, 2, said(2, 1.0)) != 0.0
    assert (replica(node), node.desynchronised) == (6.0, 1)


@pytest.mark.parametrize("on_loss", ANSWERS)
def test_a_node_that_came_back_speaks_whole_first_and_leaves_out_whom_it_has_not_heard_whole(on_loss: OnLoss) -> None:
    node = one_of_two(replace(SPEC, on_loss=on_loss, resync_every=100), first=7)
    node.prepare(7)
    assert set(node.message(7)) == {"q_whole"}
    node.absorb(7, [said(7, 5.0)])
    node.step(7)
    assert (node.model.tolist(), replica(node)) == ([1.0], 0.0)
    node.prepare(8)
    assert set(node.message(8)) == {"q"}
    node.absorb(8, [whole(8, 4.0)])
    node.step(8)
    assert node.model.tolist() == pytest.approx([2.0 + 0.25 * (4.0 - 2.0)])
    assert node.desynchronised == 0


def test_a_greeted_neighbour_is_told_the_whole_surrogate_next_and_left_out_until_it_speaks() -> None:
    node = one_of_two()
    iterate(node, 0, said(0, 5.0))
    node.greet(1)
    node.prepare(1)
    message = node.message(1)
    assert set(message) == {"q_whole"}
    assert np.array_equal(expand(message["q_whole"]), node.own("q"))
    node.absorb(1, [said(1, 3.0)])
    assert node.edges(1) == {}
    node.step(1)
    assert iterate(node, 2, whole(2, 9.0)) != 0.0
    assert (replica(node), node.desynchronised) == (9.0, 0)
    assert set(node.message(2)) == {"q"}


@pytest.mark.parametrize(
    ("first", "lost", "names"),
    [
        (7, {7}, ["q", "q_whole", "q"]),  # one that came back speaks whole as soon as that is not lost
        (0, {1, 4, 5, 6, 7}, ["q", "q", "q q_before", "q", "q", "q", "q", "q", "q_whole", "q"]),
    ],
)
def test_the_next_message_makes_up_for_what_was_lost_and_nothing_is_repeated_into_a_cut(
    first: int, lost: set[int], names: list[str]
) -> None:
    node = one_of_two(first=first, is_lost=lambda _j, _i, k: k in lost)
    for k, expected in enumerate(names, start=first):
        node.prepare(k)
        assert " ".join(sorted(node.message(k))) == expected
        node.absorb(k, [])
        node.step(k)


def test_a_receiver_adds_an_update_that_is_sent_again_only_if_it_missed_it() -> None:
    again = Received(1, 2, {**said(2, 4.0).message, "q_before": said(1, 2.0).message["q"]}, 0)
    hit, spared = one_of_two(is_lost=lambda j, _i, k: (j, k) == (1, 1)), one_of_two()
    iterate(hit, 0, said(0, 1.0))
    iterate(spared, 0, said(0, 1.0))
    assert iterate(hit, 1) == 0.0
    iterate(spared, 1, said(1, 2.0))
    for node in (hit, spared):
        assert iterate(node, 2, again) != 0.0
        assert (replica(node), node.desynchronised) == (1.0 + 2.0 + 4.0, 0)


@pytest.mark.parametrize("spec", [ChocoSpec(eta=0.05), AnqNidsSpec(eta=0.1), BeerSpec(eta=0.05)])
@pytest.mark.parametrize("state", ["snapshot", "cold"])
def test_a_killed_node_comes_back_into_a_network_of_replicas(spec: AnyReplicaSpec, state: State) -> None:
    plan = (FaultEvent(0, "kill", KillEffect((2,)), Window(1.005, 1.205)),)
    calm = setting_of(spec, iterations=600)
    setting = replace(calm, plan=plan, exchange=Exchange(patience_s=0.5), restart_state=state)
    found, account = simulated(setting, "virtual-time")
    reached = suboptimality(calm, simulated(calm)[0].models)
    assert suboptimality(setting, found.models) < max(10 * reached, 1e-8)
    assert account.desynchronised == 0
