from math import comb, inf

import numpy as np
import pytest

from orchestrator.campaigns.verdicts import Verdict, at_most
from orchestrator.results.paired import Interval, paired_interval, paired_ratio, share_interval


def test_three_differences_by_hand() -> None:
    # mean 2, deviation 1, t(2 degrees, 97.5 %) = 4.3027: 4.3027 / sqrt(3) = 2.4841
    found = paired_interval([1.0, 2.0, 3.0])
    assert found.estimate == 2.0
    assert (found.low, found.high) == pytest.approx((-0.4841, 4.4841), abs=1e-4)
    assert found.seeds == 3


def test_ratios_are_averaged_as_logarithms() -> None:
    found = paired_ratio([0.5, 1.0, 2.0])
    assert found.estimate == pytest.approx(1.0)
    assert found.low == pytest.approx(1 / found.high)


@pytest.mark.parametrize("values", [[2.0], [2.0, 2.0]])
def test_one_or_two_seeds_are_a_look_whatever_they_say(values: list[float]) -> None:
    for found in (paired_interval(values), paired_ratio(values)):
        assert found.is_look


def test_a_single_value_has_no_ends() -> None:
    assert paired_interval([2.0]) == Interval(2.0, -inf, inf, 1)
    ratio = paired_ratio([2.0])
    assert ratio.estimate == pytest.approx(2.0)
    assert ratio == Interval(ratio.estimate, 0.0, inf, 1)


@pytest.mark.parametrize(
    ("limit", "told"),
    [(0.9, Verdict.FAILS), (1.0, Verdict.OPEN), (1.5, Verdict.OPEN), (2.0, Verdict.HOLDS), (2.1, Verdict.HOLDS)],
)
def test_a_limit_within_the_interval_cannot_be_told(limit: float, told: Verdict) -> None:
    assert at_most(limit)(Interval(1.5, 1.0, 2.0, 5)) is told


def test_the_same_value_with_every_seed_is_an_interval_of_one_point() -> None:
    assert at_most(2.0)(paired_interval([2.0, 2.0, 2.0])) is Verdict.HOLDS


def test_values_that_agree_by_luck_of_a_grid_have_the_spread_of_its_rounding() -> None:
    # t(2 degrees, 97.5 %) = 4.3027; a variance of 0.01: 4.3027 x 0.1 / sqrt(3) = 0.2484
    assert paired_interval([2.0] * 3, rounding=0.01).high == pytest.approx(2.2484, abs=1e-4)
    assert paired_interval([1.0, 2.0, 3.0], rounding=0.01) == paired_interval([1.0, 2.0, 3.0])


def test_the_true_value_is_outside_as_seldom_as_stated() -> None:
    # 2000 samples of five: outside 100 times, deviation 9.7; five deviations are one false alarm in 1.7 million
    generator = np.random.default_rng(4)
    found = [paired_interval(generator.normal(3.0, 2.0, 5).tolist()) for _ in range(2000)]
    outside = sum(not each.low <= 3.0 <= each.high for each in found)
    assert abs(outside - 100) < 5 * 9.75


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (4, 4, 0.025**0.25, 1.0),  # all: the low end p has p^4 = 2.5 %
        (0, 4, 0.0, 1 - 0.025**0.25),
        (3, 4, 0.1941, 0.9937),  # from a table of exact binomial limits
        (8, 10, 0.4439, 0.9748),
    ],
)
def test_the_interval_of_a_share_is_exact(hits: int, of: int, low: float, high: float) -> None:
    found = share_interval(hits, of)
    assert (found.estimate, found.seeds) == (hits / of, of)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_the_true_share_is_outside_no_more_often_than_stated(share: float) -> None:
    # summed over all outcomes of five seeds, not drawn
    chances = [comb(5, hits) * share**hits * (1 - share) ** (5 - hits) for hits in range(6)]
    found = [share_interval(hits, 5) for hits in range(6)]
    assert sum(p for p, each in zip(chances, found, strict=True) if not each.low <= share <= each.high) <= 0.05
