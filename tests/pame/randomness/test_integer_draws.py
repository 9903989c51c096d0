"""Integers below a bound and permutations: the documented rule in plain Python, and uniformity."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from pame.randomness import Key, Purpose, integers, permutation
from tests.pame.randomness.oracle import slow_integers, slow_words


@pytest.mark.parametrize("below", [1, 2, 3, 10, 1000, 2**16, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32])
@pytest.mark.parametrize("count", [0, 1, 2, 101])
def test_integers_follow_the_documented_rule(below: int, count: int) -> None:
    key = Key(4, Purpose.GRAPH, below % 97, count)
    drawn = integers(key, count, below)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == slow_integers(key, count, below)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**64 - 1), st.integers(0, 60), st.integers(1, 2**32))
def test_integers_follow_the_documented_rule_for_any_bound(seed: int, count: int, below: int) -> None:
    key = Key(seed, Purpose.GRAPH)
    assert integers(key, count, below).tolist() == slow_integers(key, count, below)


@pytest.mark.parametrize(
    ("below", "cells"), [(7, 7), (1000, 100), (3 * 2**30, 24), (2**31 + 1, 16)], ids=["7", "1000", "3 2^30", "2^31+1"]
)
def test_integers_are_uniform_also_where_a_large_share_is_rejected(below: int, cells: int) -> None:
    # chi-square over equal parts of the range, and over the residues modulo 3 (without rejection, 3 2^30 hits
    # every third value twice as often as the others); false alarm 1e-6 each
    drawn = integers(Key(11, Purpose.GRAPH, below % 89), 48_000, below)
    parts = np.bincount(drawn * cells // below, minlength=cells)
    edges = -(-np.arange(cells + 1) * below // cells)
    assert parts.size == cells
    assert chisquare(parts, drawn.size * np.diff(edges) / below).pvalue > 1e-6
    residues = np.array([(below + 2 - r) // 3 for r in range(3)])
    assert chisquare(np.bincount(drawn % 3, minlength=3), drawn.size * residues / below).pvalue > 1e-6


def test_a_quarter_of_the_halves_is_rejected_below_three_times_two_to_the_30() -> None:
    # 2^32 mod 3 2^30 = 2^30, so a half is rejected with probability 1/4; false alarm 1e-6
    key, tries = Key(12, Purpose.GRAPH), 8000
    halves = [half for word in slow_words(key, tries // 2) for half in (word % 2**32, word >> 32)]
    accepted = [half * 3 * 2**30 >> 32 for half in halves if half * 3 * 2**30 % 2**32 >= 2**30]
    assert binom.ppf(5e-7, tries, 0.75) <= len(accepted) <= binom.ppf(1 - 5e-7, tries, 0.75)
    # the first round of `integers` takes exactly these, in order
    assert integers(key, tries, 3 * 2**30)[: len(accepted)].tolist() == accepted


@pytest.mark.parametrize("n", [0, 1, 2, 5, 1000])
def test_a_permutation_holds_every_number_once_in_the_order_of_the_words(n: int) -> None:
    key = Key(5, Purpose.GRAPH, n)
    drawn = permutation(key, n).tolist()
    assert sorted(drawn) == list(range(n))
    drawn_words = slow_words(key, n)
    assert drawn == sorted(range(n), key=lambda i: drawn_words[i])


def test_words_that_are_equal_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "pame.randomness.draws.words", lambda _key, _count: np.array([7, 3, 7, 3, 7] * 8, dtype=np.uint64)
    )
    drawn = permutation(Key(0, Purpose.GRAPH), 40).tolist()
    threes = [i for i in range(40) if i % 5 in (1, 3)]
    assert drawn == threes + [i for i in range(40) if i % 5 not in (1, 3)]


def test_all_24_permutations_of_four_are_equally_likely() -> None:
    # chi-square at 1e-6
    counts = Counter(tuple(permutation(Key(6, Purpose.GRAPH, iteration=k), 4).tolist()) for k in range(12_000))
    assert set(counts) <= set(permutations(range(4)))
    assert chisquare([counts[p] for p in permutations(range(4))]).pvalue > 1e-6


@pytest.mark.parametrize("below", [0, -3, 2**32 + 1])
def test_a_bound_that_cannot_be_drawn_below_is_refused(below: int) -> None:
    with pytest.raises(ValueError, match="can be drawn"):
        integers(Key(1, Purpose.SUPPORT), 3, below)
