"""Effects over paired seeds, against values worked out by hand and against how often an interval is right."""

from math import exp, inf

import numpy as np
import pytest

from orchestrator.paired_seeds import difference, ratio


def test_the_interval_of_a_difference_is_students() -> None:
    # mean 2, standard deviation 1, three values: 2 +- 4.303 / sqrt(3)
    effect = difference([1.0, 2.0, 3.0], 0.95)
    assert effect is not None
    assert effect.size == 2.0
    assert (effect.low, effect.high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)
    assert effect.pairs == 3


def test_a_ratio_is_the_geometric_mean_of_the_pairs() -> None:
    effect = ratio([(1.0, 2.0), (2.0, 1.0), (8.0, 1.0)], 0.95)
    assert effect is not None
    assert effect.size == pytest.approx(2.0)
    assert effect.low * effect.high == pytest.approx(4.0)


def test_what_a_seed_does_to_both_cancels() -> None:
    effect = ratio([(10.0, 20.0), (100.0, 200.0), (1000.0, 2000.0)], 0.99)
    assert effect is not None
    assert (effect.low, effect.size, effect.high) == pytest.approx((0.5, 0.5, 0.5))


def test_one_pair_has_no_interval_and_none_has_no_effect() -> None:
    effect = ratio([(1.0, 2.0)], 0.95)
    assert effect is not None
    assert (effect.size, effect.low, effect.high, effect.has_interval) == (0.5, 0.0, inf, False)
    assert ratio([], 0.95) is None
    assert difference([], 0.95) is None


def test_pairs_that_agree_by_luck_of_the_grid_have_the_spread_of_its_rounding() -> None:
    # every run read at 50 or 52 on a grid of 2: the truth may be anywhere in between
    effect = ratio([(52.0, 50.0)] * 3, 0.95, grid=2.0)
    assert effect is not None
    assert effect.low < 1.0 < effect.high
    assert effect.high < 1.15


def test_an_interval_is_right_as_often_as_it_says() -> None:
    """2000 draws at 95 %: fewer than 93 % or more than 97 % right comes by chance once in 30 000."""
    random = np.random.default_rng(1)
    right = 0
    for _ in range(2000):
        effect = ratio([(exp(random.normal(0.3, 0.2)), 1.0) for _ in range(4)], 0.95)
        assert effect is not None
        right += effect.low <= exp(0.3) <= effect.high
    assert 0.93 < right / 2000 < 0.97
