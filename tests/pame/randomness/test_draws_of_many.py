"""Draws of many nodes at once are the very draws of each node alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.randomness import Key, Purpose, subset, uniforms, words
from pame.randomness.many import Nodes, subsets_of_nodes, uniforms_of_links, words_of_nodes
from tests.pame.randomness.oracle import slow_subset, slow_words

SEED = 2**64 - 12345


def nodes_of(*ids: int) -> Nodes:
    return np.array(ids, dtype=np.int64)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 13, 129])
@pytest.mark.parametrize("nodes", [nodes_of(), nodes_of(0), nodes_of(5, 0, 5, 2**62), np.arange(40)], ids=len)
def test_words_of_nodes_are_the_words_of_each_node(nodes: Nodes, count: int) -> None:
    drawn = words_of_nodes(SEED, Purpose.BATCH, nodes, 77, count)
    assert drawn.shape == (nodes.size, count)
    for row, node in zip(drawn, nodes.tolist(), strict=True):
        assert row.tolist() == slow_words(Key(SEED, Purpose.BATCH, node, 77), count)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**64 - 1),
    st.sampled_from(Purpose),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**63 - 1),
)
def test_words_of_nodes_are_right_for_any_key(
    seed: int, purpose: Purpose, node: int, iteration: int, peer: int
) -> None:
    drawn = words_of_nodes(seed, purpose, nodes_of(node), iteration, 6, nodes_of(peer))
    assert drawn.tolist() == [slow_words(Key(seed, purpose, node, iteration, peer), 6)]


def test_words_of_nodes_are_right_across_the_pieces_they_are_computed_in() -> None:
    # 3 x 5000 blocks: pieces of 2^13 blocks end in the middle of a node
    nodes = nodes_of(4, 9, 1)
    drawn = words_of_nodes(8, Purpose.SUPPORT, nodes, 3, 19_999)
    for row, node in zip(drawn, nodes.tolist(), strict=True):
        assert np.array_equal(row, words(Key(8, Purpose.SUPPORT, node, 3), 19_999))


def test_uniforms_of_links_are_the_first_uniform_number_of_each_link() -> None:
    senders, receivers = nodes_of(0, 1, 2, 2, 9, 1000), nodes_of(1, 0, 2, 5, 9, 3)
    drawn = uniforms_of_links(SEED, Purpose.MESSAGE_LOSS, senders, receivers, 12)
    assert drawn.tolist() == [
        float(uniforms(Key(SEED, Purpose.MESSAGE_LOSS, sender, 12, receiver), 1)[0])
        for sender, receiver in zip(senders.tolist(), receivers.tolist(), strict=True)
    ]
    assert len(set(drawn.tolist())) == 6


SHAPES = [(n, s) for n in (1, 2, 5, 8) for s in range(n + 1)] + [
    (17, 8), (17, 9), (100, 1), (100, 20), (100, 50), (100, 51), (100, 99), (600, 120), (600, 599), (5000, 250),
]  # fmt: skip


@pytest.mark.parametrize(("n", "s"), SHAPES)
def test_subsets_of_nodes_are_the_subsets_of_each_node(n: int, s: int) -> None:
    nodes = nodes_of(3, 0, 11, 7, 10**6)
    masks = subsets_of_nodes(21, Purpose.SUPPORT, nodes, 5, n, s)
    assert masks.shape == (nodes.size, n)
    for mask, node in zip(masks, nodes.tolist(), strict=True):
        assert np.flatnonzero(mask).tolist() == slow_subset(Key(21, Purpose.SUPPORT, node, 5), n, s)


@pytest.mark.parametrize("ahead", [1, 3, 12, 30])
@pytest.mark.parametrize(("n", "s"), [(1, 1), (8, 3), (8, 6), (100, 20), (100, 50), (100, 60), (100, 97), (600, 120)])
def test_nodes_whose_words_run_out_are_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch, n: int, s: int, ahead: int
) -> None:
    monkeypatch.setattr("pame.randomness.many._usually_enough", lambda _n, _few: ahead)
    nodes = np.arange(30)
    masks = subsets_of_nodes(22, Purpose.SUPPORT, nodes, 2, n, s)
    for mask, node in zip(masks, nodes.tolist(), strict=True):
        assert np.flatnonzero(mask).tolist() == slow_subset(Key(22, Purpose.SUPPORT, node, 2), n, s)


def test_halves_that_would_bias_are_rejected_as_for_one_node() -> None:
    # 2^32 mod 1 073 742 is 1 073 738, so about one half in 4000 is rejected: some in each of these rows
    n, s, nodes = 1_073_742, 20_000, nodes_of(2, 9)
    masks = subsets_of_nodes(25, Purpose.SUPPORT, nodes, 0, n, s)
    for mask, node in zip(masks, nodes.tolist(), strict=True):
        key = Key(25, Purpose.SUPPORT, node, 0)
        halves = [half for word in slow_words(key, s // 2) for half in (word % 2**32, word >> 32)]
        assert any(half * n % 2**32 < 2**32 % n for half in halves)
        assert np.flatnonzero(mask).tolist() == slow_subset(key, n, s)


def test_the_border_of_rejection_worked_out_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # n = 3: 2^32 mod 3 = 1. Half 0 gives product 0, remainder 0 < 1: rejected, and its odd partner is thrown away.
    # Half 0xAAAAAAAB gives product 2 * 2^32 + 1, remainder 1: just accepted, as 2. A third word would give 0.
    row = np.array([[0x00000001_00000000, 0x00000001_AAAAAAAB, 1, 1]], dtype=np.uint64)
    monkeypatch.setattr("pame.randomness.many.words_of_nodes", lambda *_: row)
    assert subsets_of_nodes(0, Purpose.SUPPORT, nodes_of(0), 0, 3, 1).tolist() == [[False, False, True]]


def test_some_nodes_run_out_of_words_while_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one: list[int] = []

    def spied(key: Key, n: int, s: int) -> Nodes:
        one_by_one.append(key.node)
        return subset(key, n, s)

    monkeypatch.setattr("pame.randomness.many._usually_enough", lambda _n, _few: 33)
    monkeypatch.setattr("pame.randomness.many.subset", spied)
    nodes = np.arange(200)
    masks = subsets_of_nodes(23, Purpose.SUPPORT, nodes, 0, 100, 50)
    assert 0 < len(one_by_one) < 200
    for mask, node in zip(masks, nodes.tolist(), strict=True):
        assert np.flatnonzero(mask).tolist() == subset(Key(23, Purpose.SUPPORT, node, 0), 100, 50).tolist()


def test_the_words_drawn_ahead_are_nearly_always_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_key: Key, _n: int, _s: int) -> Nodes:
        raise AssertionError("the words drawn ahead were not enough")

    monkeypatch.setattr("pame.randomness.many.subset", refuse)
    for n, s in ((10, 5), (100, 20), (600, 120), (600, 300), (3000, 1500)):
        subsets_of_nodes(24, Purpose.SUPPORT, np.arange(300), 1, n, s)
