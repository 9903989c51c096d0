"""Whole numbers and subsets from a key: uniform, reproducible, within their bounds."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2, chisquare, norm

from pame.randomness import Key, Purpose, integers, permutation, subset
from tests.pame.randomness.oracle import slow_integers, slow_subset, slow_walk, slow_words, word_stream


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


SIZES = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 2**64 - 1), SIZES)
@example(0, (1, 1))
@example(0, (1, 0))
@example(0, (2, 1))
@example(0, (3000, 0))
@example(0, (3000, 1))
@example(0, (3000, 2999))
@example(0, (3000, 3000))
def test_a_subset_has_its_size_ascends_and_stays_in_range(seed: int, size: tuple[int, int]) -> None:
    n, s = size
    drawn = subset(Key(seed, Purpose.SUPPORT), n, s)
    assert drawn.dtype == np.int64
    assert drawn.shape == (s,)
    assert np.all(np.diff(drawn) > 0)
    assert s == 0 or (drawn[0] >= 0 and drawn[-1] < n)


@pytest.mark.parametrize(
    ("n", "s"),
    [(n, s) for n in (1, 2, 3, 4, 5, 7, 8, 9, 16) for s in range(n + 1)]
    + [(63, 31), (64, 1), (65, 33), (100, 20), (128, 2), (127, 3), (1000, 15), (1000, 16), (1000, 500), (1000, 501)]
    + [(600, 120), (5000, 4999), (10_000, 157), (40_000, 17_001), (60_000, 6_000)]
    + [
        (16_383, 4_000),  # marks: too few coordinates for gaps
        (16_384, 255),  # marks: too small a share
        (16_384, 256),  # gaps, from here on
        (16_384, 8_192),
        (16_384, 8_193),  # the complement by gaps
        (16_384, 16_127),
        (65_536, 6_554),
        (200_000, 4_001),
        (10**6, 10**5),  # the surplus is a subset by marks of many
    ],
)
def test_a_subset_follows_the_documented_rule_of_its_share(n: int, s: int) -> None:
    for iteration in range(3 if n <= 1000 else 1):
        key = Key(17, Purpose.SUPPORT, node=n, iteration=iteration)
        assert subset(key, n, s).tolist() == slow_subset(key, n, s)


def test_a_walk_that_takes_too_few_coordinates_is_walked_again() -> None:
    # found by trying 20,000 iterations: the first walk of this key takes fewer than 256
    key = Key(18, Purpose.SUPPORT, iteration=18_489)
    words_of_one_walk = -(-(320 + 6 * 17) // 4)
    oracle = word_stream(key)
    assert subset(key, 16_384, 256).tolist() == slow_subset(key, 16_384, 256)
    assert sum(place < 16_384 for place in slow_walk(oracle, Fraction(1_280, 2**16), 4 * words_of_one_walk)) < 256


def test_the_coordinates_of_a_walk_are_spread_and_spaced_as_chance_says() -> None:
    # 200 subsets of 2,000 from 20,000. Chi-square over 100 blocks of 200 coordinates (each subset has exactly 2,000,
    # which shrinks the statistic by 1 - s/n), and over the distances 1 to 40 and more:
    # P(distance > d) = C(n-d, s) / C(n, s). False alarm 1e-6 each, either side.
    n, s, draws = 20_000, 2_000, 200
    blocks, distances = np.zeros(100), np.zeros(41)
    for k in range(draws):
        drawn = subset(Key(35, Purpose.SUPPORT, iteration=k), n, s)
        blocks += np.bincount(drawn // 200, minlength=100)
        distances += np.bincount(np.minimum(np.diff(drawn, prepend=-1), 41), minlength=42)[1:]
    statistic = float(((blocks - draws * s / 100) ** 2).sum() / (draws * s / 100) / (1 - s / n))
    assert chi2.isf(1 - 1e-6, 99) < statistic < chi2.isf(1e-6, 99)
    further = np.cumprod([1.0, *((n - d - s) / (n - d) for d in range(40))])  # P(distance > d), d = 0..40
    expected = draws * s * np.append(further[:-1] - further[1:], further[-1])
    assert chisquare(distances, expected).pvalue > 1e-6


def test_every_coordinate_is_as_likely_to_be_deleted_from_a_walk_as_any_other() -> None:
    # ranks of the subset's coordinates among those of its walk: mean and deviation of a uniform choice, 1e-6
    n, s = 16_384, 4_096
    inside = np.zeros(n)
    for k in range(400):
        inside[subset(Key(36, Purpose.SUPPORT, iteration=k), n, s)] += 1
    halves = inside.reshape(2, -1).sum(axis=1)
    deviation = (400 * s * (1 - s / n) / 4) ** 0.5
    assert abs(halves[0] - 400 * s / 2) < norm.isf(5e-7) * deviation


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**64 - 1), st.integers(1, 120).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_a_subset_follows_the_documented_rule_for_any_seed(seed: int, size: tuple[int, int]) -> None:
    key = Key(seed, Purpose.CANDIDATES)
    assert subset(key, *size).tolist() == slow_subset(key, *size)


def test_a_subset_never_changes() -> None:
    # worked out once with the plain Python rule
    key, six = Key(1, Purpose.SUPPORT, node=2, iteration=3), [1, 5, 8, 9, 12, 14]
    assert subset(key, 20, 6).tolist() == six
    assert subset(key, 20, 14).tolist() == sorted({*range(20)}.difference(six))


@pytest.mark.parametrize(("n", "s"), [(6, 3), (6, 2), (6, 5), (5, 4), (7, 4)])
def test_every_subset_is_equally_likely(n: int, s: int) -> None:
    # chi-square over all C(n, s) subsets, false alarm 1e-6 each
    counts = Counter(tuple(subset(Key(31, Purpose.SUPPORT, n, k), n, s).tolist()) for k in range(300 * comb(n, s)))
    assert len(counts) == comb(n, s)
    assert chisquare([counts[c] for c in combinations(range(n), s)]).pvalue > 1e-6


@pytest.mark.parametrize(("n", "s"), [(100, 20), (100, 80), (257, 64), (1000, 7)])
def test_every_coordinate_is_as_likely_to_be_in_a_subset_as_any_other(n: int, s: int) -> None:
    # Over T draws, (n-1)/n * sum (count - T p)^2 / (T p (1-p)) is nearly chi-square with n-1 degrees of freedom (each
    # draw has exactly s coordinates, which takes one degree away). False alarm 1e-6 each.
    draws = 2500
    inside = np.zeros(n)
    for k in range(draws):
        inside[subset(Key(32, Purpose.SUPPORT, n, k), n, s)] += 1
    p = s / n
    statistic = (n - 1) / n * float(((inside - draws * p) ** 2).sum()) / (draws * p * (1 - p))
    assert chi2.isf(1 - 5e-7, n - 1) < statistic < chi2.isf(5e-7, n - 1)


def test_two_coordinates_are_together_as_often_as_chance_says() -> None:
    # neighbours in the order (l, l+1): probability s(s-1)/(n(n-1)); one normal bound over all pairs, false alarm 1e-6.
    # By symmetry the mean over the n-1 adjacent pairs has at most the deviation of one pair.
    n, s, draws = 60, 12, 4000
    together = sum(np.count_nonzero(np.diff(subset(Key(33, Purpose.SUPPORT, 0, k), n, s)) == 1) for k in range(draws))
    p = s * (s - 1) / (n * (n - 1))
    deviation = (p * (1 - p) / draws) ** 0.5
    assert abs(together / (draws * (n - 1)) - p) < norm.isf(5e-7) * deviation


def test_subsets_of_different_iterations_are_independent() -> None:
    # the overlap of two independent s-subsets is hypergeometric with mean s^2/n; false alarm 1e-6 (normal)
    n, s, pairs = 200, 40, 3000
    overlap = sum(
        np.intersect1d(
            subset(Key(34, Purpose.SUPPORT, 0, 2 * k), n, s), subset(Key(34, Purpose.SUPPORT, 0, 2 * k + 1), n, s)
        ).size
        for k in range(pairs)
    )
    variance = s * (s / n) * (1 - s / n) * (n - s) / (n - 1)
    assert abs(overlap / pairs - s * s / n) < norm.isf(5e-7) * (variance / pairs) ** 0.5


@pytest.mark.parametrize(("n", "s"), [(5, 6), (500, 501), (3, -1)])
def test_a_subset_that_does_not_exist_is_refused(n: int, s: int) -> None:
    with pytest.raises(ValueError, match="no subset"):
        subset(Key(1, Purpose.SUPPORT), n, s)
