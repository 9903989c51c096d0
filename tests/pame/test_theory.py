"""The formulas against exact integer combinatorics."""

from fractions import Fraction
from itertools import product
from math import comb, log2

import pytest

from pame.theory import (
    dense_bits,
    entropy_floor_bits,
    flagged_bits,
    naive_average_bias,
    paper_bits,
    support_entropy_bits,
)


@pytest.mark.parametrize(("n", "s"), [(1, 1), (4, 2), (10, 3), (600, 120), (5000, 1), (5000, 2500), (5000, 5000)])
def test_the_entropy_of_a_support_is_the_logarithm_of_the_number_of_supports(n: int, s: int) -> None:
    assert support_entropy_bits(n, s) == pytest.approx(log2(comb(n, s)), rel=1e-12, abs=1e-9)
    assert entropy_floor_bits(n, s) == pytest.approx(log2(comb(n, s)) + 64 * s, rel=1e-12)


def test_the_entropy_stays_exact_at_a_million_coordinates() -> None:
    assert support_entropy_bits(10**6, 1000) == pytest.approx(log2(comb(10**6, 1000)), rel=1e-9)


def test_the_count_of_the_paper_falls_below_the_floor_beyond_a_share_of_0_227() -> None:
    n = 10**5
    assert paper_bits(n, 22_600) > entropy_floor_bits(n, 22_600)
    assert paper_bits(n, 22_800) < entropy_floor_bits(n, 22_800)


def test_the_counts_of_paper_and_dense_worked_out_by_hand() -> None:
    assert paper_bits(1000, 200) == 13_600
    assert dense_bits(1000) == 64_000


@pytest.mark.parametrize(("n", "s", "q"), [(4, 1, 1), (4, 1, 3), (5, 2, 4), (3, 3, 5), (10, 1, 6)])
def test_the_bias_is_the_mean_of_coverage_over_q_where_something_came(n: int, s: int, q: int) -> None:
    p = Fraction(s, n)
    covered, shrunk = Fraction(0), Fraction(0)
    for carries in product([True, False], repeat=q):
        likelihood = Fraction(1)
        for carried in carries:
            likelihood *= p if carried else 1 - p
        if any(carries):
            covered += likelihood
            shrunk += likelihood * Fraction(sum(carries), q)
    assert naive_average_bias(n, s, q) == pytest.approx(float(shrunk / covered), rel=1e-12)


def test_one_message_is_never_biased_and_many_shrink_to_the_share() -> None:
    assert naive_average_bias(1000, 200, 1) == pytest.approx(1.0)
    assert naive_average_bias(1000, 200, 500) == pytest.approx(0.2)


def test_a_flag_per_coordinate_makes_the_papers_message_a_bitmap_and_whole_values() -> None:
    assert flagged_bits(1000, 100) == 1000 + 100 * 64
