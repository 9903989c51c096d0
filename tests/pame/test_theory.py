"""The formulas against exact integer combinatorics."""

from math import comb, log2

import pytest

from pame.theory import dense_bits, entropy_floor_bits, flagged_bits, paper_bits, support_entropy_bits


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


def test_the_counts_of_paper_dense_and_with_flags_worked_out_by_hand() -> None:
    assert paper_bits(1000, 200) == 13_600
    assert dense_bits(1000) == 64_000
    assert flagged_bits(1000, 100) == 1000 + 100 * 64
