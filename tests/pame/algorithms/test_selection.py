"""Who talks to whom: sender and receiver compute the same answer, in `rounds` and in `free`."""

from itertools import product
from typing import Literal

import numpy as np
import pytest

from pame.algorithms import Algorithm, AlgorithmSpec, Context, DpsgdSpec, PameSpec, Selection
from pame.exchange import PartialMessage
from pame.rules import Exchange, Mode
from pame.sampling import candidates, support
from tests.pame.algorithms.builders import EDGES, Constant, graph, neighbours_in

PERIODS = (1, 2, 3, 2, 1, 4)
ITERATIONS = 26
T_HALF = (3, 1, 2, 1, 1, 1)  # half of the degrees 5, 2, 3, 2, 2, 2, rounded up


def selection_of(share: float, spare: int | Literal["all"] = 0, mode: Mode = "rounds", seed: int = 5) -> Selection:
    return Selection(seed, graph(), PERIODS, share, Exchange(mode, spare))


def nodes_of(spec: AlgorithmSpec, selection: Selection, seed: int = 5, n: int = 10) -> list[Algorithm]:
    return [
        spec.node(Context(seed, node, graph(), selection, Constant(np.zeros(n)), np.zeros(n)))
        for node in range(graph().nodes)
    ]


@pytest.mark.parametrize("spec", [PameSpec(participation=0.5), DpsgdSpec()], ids=["pame", "dpsgd"])
@pytest.mark.parametrize("spare", [0, 1, "all"])
def test_a_node_sends_exactly_to_those_that_listen_to_it(spec: AlgorithmSpec, spare: int | Literal["all"]) -> None:
    nodes = nodes_of(spec, selection_of(spec.share, spare))
    for k in range(ITERATIONS):
        wanted = [node.wanted(k) for node in nodes]
        receivers = [node.receivers(k) for node in nodes]
        assert [w is not None for w in wanted] == [k % period == 0 for period in PERIODS]
        for i, j in product(range(6), repeat=2):
            listens = wanted[i]
            assert (i in receivers[j]) == (listens is not None and j in listens.senders)


@pytest.mark.parametrize(("spare", "extra"), [(0, 0), (1, 1), (2, 2), ("all", 99)])
def test_a_node_listens_to_t_plus_spare_of_its_neighbours_and_needs_t(spare: int | Literal["all"], extra: int) -> None:
    nodes = nodes_of(PameSpec(participation=0.5), selection_of(0.5, spare))
    for node, k in product(range(6), range(0, 24, 12)):
        near, wanted = neighbours_in(EDGES, node), nodes[node].wanted(k)
        assert wanted is not None
        assert wanted.enough == T_HALF[node]
        assert len(wanted.senders) == min(T_HALF[node] + extra, len(near))
        assert list(wanted.senders) == sorted(set(wanted.senders) & set(near))


def test_whom_a_node_listens_to_is_the_public_draw_of_its_candidates() -> None:
    selection = selection_of(0.5)
    for node, k in product(range(6), range(12)):
        assert selection.senders(node, k) == candidates(5, node, k, neighbours_in(EDGES, node), T_HALF[node])


def test_dpsgd_listens_to_every_neighbour() -> None:
    nodes = nodes_of(DpsgdSpec(), selection_of(1.0))
    for node in range(6):
        wanted = nodes[node].wanted(0)
        assert wanted is not None
        assert list(wanted.senders) == neighbours_in(EDGES, node)
        assert wanted.enough == len(wanted.senders)


@pytest.mark.parametrize("spare", [0, 2, "all"], ids=lambda spare: f"spare {spare}")
def test_in_free_mode_a_node_pushes_to_t_neighbours_at_its_own_rounds_only(spare: int | Literal["all"]) -> None:
    nodes = nodes_of(PameSpec(participation=0.5), selection_of(0.5, spare, "free"))
    for node, k in product(range(6), range(ITERATIONS)):
        receivers, near = nodes[node].receivers(k), neighbours_in(EDGES, node)
        if k % PERIODS[node]:
            assert not receivers
            assert nodes[node].wanted(k) is None
        else:
            assert len(receivers) == T_HALF[node]
            assert list(receivers) == sorted(set(receivers) & set(near))
            wanted = nodes[node].wanted(k)
            assert wanted is not None
            assert list(wanted.senders) == near  # whoever pushed to it
            assert wanted.enough == T_HALF[node]


def test_in_free_mode_the_receivers_change_from_round_to_round() -> None:
    selection = selection_of(0.5, mode="free")
    assert len({selection.receivers(0, k) for k in range(30)}) > 5


def test_the_order_of_questions_does_not_matter() -> None:
    # 6 x 40 questions overflow the cache of 24 draws
    questions = list(product(range(6), range(40)))
    asked = selection_of(0.5)
    one = {question: (asked.senders(*question), asked.receivers(*question)) for question in questions}
    asked = selection_of(0.5)
    other = {question: (asked.senders(*question), asked.receivers(*question)) for question in reversed(questions)}
    assert one == other


def test_another_seed_gives_other_listeners() -> None:
    one, other = selection_of(0.5, seed=1), selection_of(0.5, seed=2)
    assert [one.senders(0, k) for k in range(20)] != [other.senders(0, k) for k in range(20)]


def test_all_receivers_of_a_node_at_an_iteration_see_the_same_support() -> None:
    # `message` is not told the receiver; asked again it is the same, and it is the public draw
    nodes = nodes_of(PameSpec(participation=1.0, support=0.3), selection_of(1.0))
    for node, k in product(range(6), (0, 12)):
        for _ in nodes[node].receivers(k):
            message = nodes[node].message(k)["w"]
            assert isinstance(message, PartialMessage)
            assert message.support.tolist() == support(5, node, k, 10, 3).tolist()


@pytest.mark.parametrize(
    ("given", "n", "s"),
    [
        (0.2, 600, 120),
        (0.001, 600, 1),
        (1e-9, 600, 1),
        (1.0, 600, 600),
        (1, 600, 1),
        (600, 600, 600),
        (0.29, 100, 29),
        (0.27, 10, 3),
    ],
)
def test_a_support_is_a_share_if_a_float_and_a_count_if_an_integer(given: float, n: int, s: int) -> None:
    assert PameSpec(support=given).support_size(n) == s
