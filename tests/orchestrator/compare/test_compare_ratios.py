"""Ratios of two algorithms with the same seed: what the interval must and must not say."""

import numpy as np
import pytest

from orchestrator.compare.ratios import ratio_by_seed


def ratios(logs: np.ndarray) -> tuple[dict[int, float], dict[int, float]]:
    """Seeds differ by a factor of ten, the pairs by these."""
    first = {seed: 10.0 ** (seed % 3) for seed in range(len(logs))}
    return first, {seed: first[seed] * float(np.exp(logs[seed])) for seed in first}


def test_a_steady_ratio_is_found_however_much_seeds_differ() -> None:
    found = ratio_by_seed(*ratios(np.log([1.9, 2.0, 2.1])))
    assert found is not None
    assert found.times == pytest.approx(2.0, rel=0.01)
    assert found.is_decided


def test_no_effect_and_a_reversal_are_not_decided() -> None:
    null, reversed_ = ratio_by_seed(*ratios(np.log([0.9, 1.0, 1.1]))), ratio_by_seed(*ratios(np.log([0.5, 0.52, 0.48])))
    assert null is not None
    assert reversed_ is not None
    assert not null.is_decided
    assert "cannot be told apart" in null.words
    assert not reversed_.is_decided


def test_noise_is_taken_for_an_effect_about_once_in_forty() -> None:
    """2000 times noise; the one-sided error is 2.5 %, and five standard deviations of its share are 1.8 %."""
    noise = np.random.default_rng(3).standard_normal((2000, 5))
    found = [ratio_by_seed(*ratios(logs)) for logs in noise]
    assert np.mean([one is not None and one.is_decided for one in found]) == pytest.approx(0.025, abs=0.018)


def test_two_seeds_are_a_look_and_seeds_that_only_one_has_do_not_count() -> None:
    found = ratio_by_seed({1: 1.0, 2: 1.0, 3: 5.0}, {1: 2.0, 2: 2.0, 4: 7.0})
    assert found is not None
    assert (found.seeds, found.low, found.is_decided) == (2, None, False)
    assert ratio_by_seed({1: 1.0}, {2: 1.0}) is None


def test_values_that_agree_by_luck_of_the_grid_are_not_told_apart() -> None:
    first, second = dict.fromkeys((1, 2, 3), 7.0), dict.fromkeys((1, 2, 3), 8.0)
    assert (found := ratio_by_seed(first, second)) is not None
    assert found.is_decided, "if both are exact"
    rounding = (1 / 7) ** 2 / 12 + (1 / 8) ** 2 / 12
    assert (found := ratio_by_seed(first, second, rounding=rounding)) is not None
    assert not found.is_decided, "if both are read in whole rounds"


def test_who_misses_is_not_left_out_but_counts_with_all_it_took() -> None:
    first, second = dict.fromkeys((1, 2, 3, 4), 10.0), {1: 11.0, 2: 9.0}
    assert (found := ratio_by_seed(first, second, {3: 80.0, 4: 5.0, 9: 1.0})) is not None
    assert found.seeds == 4
    assert found.times == pytest.approx((1.1 * 0.9 * 8.0 * 1.0) ** 0.25), "and with as much as the other at least"
    assert found.missed == 2
    assert "at least" in found.words
    assert "misses with 2 of 4 seeds" in found.words
