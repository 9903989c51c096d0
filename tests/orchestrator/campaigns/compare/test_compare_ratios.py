"""Ratios of two algorithms with the same seed: what the interval must and must not say."""

import numpy as np
import pytest

from orchestrator.campaigns.compare.ratios import ratio_by_seed
from orchestrator.results.paired import Taken


def took(*hits: float | None, spent: float = 100.0) -> dict[int, Taken]:
    """By seed, from 1 on."""
    return {seed: Taken(hit, spent) for seed, hit in enumerate(hits, 1)}


def ratios(logs: np.ndarray) -> tuple[dict[int, Taken], dict[int, Taken]]:
    """Seeds differ by a factor of ten, the pairs by these."""
    first = [10.0 ** (place % 3) for place in range(len(logs))]
    return took(*first), took(*(value * float(np.exp(log)) for value, log in zip(first, logs, strict=True)))


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
    found = ratio_by_seed(took(1.0, 1.0, 5.0), {**took(2.0, 2.0), 4: Taken(7.0, 100.0)})
    assert found is not None
    assert (found.seeds, found.low, found.is_decided) == (2, None, False)
    assert ratio_by_seed(took(1.0), {2: Taken(1.0, 1.0)}) is None


def test_values_that_agree_by_luck_of_the_grid_are_not_told_apart() -> None:
    first, second = took(7.0, 7.0, 7.0), took(8.0, 8.0, 8.0)
    assert (found := ratio_by_seed(first, second)) is not None
    assert found.is_decided, "if both are exact"
    rounding = (1 / 7) ** 2 / 12 + (1 / 8) ** 2 / 12
    assert (found := ratio_by_seed(first, second, rounding)) is not None
    assert not found.is_decided, "if both are read in whole rounds"


def test_who_misses_is_not_left_out_but_counts_with_all_it_spent() -> None:
    second = {**took(11.0, 9.0), 3: Taken(None, 80.0), 4: Taken(None, 5.0), 9: Taken(None, 1.0)}
    assert (found := ratio_by_seed(took(10.0, 10.0, 10.0, 10.0), second)) is not None
    assert found.times == pytest.approx((1.1 * 0.9 * 8.0 * 1.0) ** 0.25), "and with as much as the other at least"
    assert (found.seeds, found.missed, found.high) == (4, (0, 2), None)
    assert found.words.startswith("at least ")
    assert found.words.endswith("; it misses with 2 of 4 seeds")


def test_seeds_that_the_first_misses_count_against_it() -> None:
    assert (found := ratio_by_seed(took(1.0, 1.1, None), took(3.0, 3.1, 2.9))) is not None
    assert found.missed == (1, 0)
    assert not found.is_decided
    assert "cannot be told apart; the first misses with 1 of 3 seeds" in found.words


def test_a_seed_with_which_nobody_gets_there_says_nothing() -> None:
    assert ratio_by_seed(took(None), took(None)) is None
    assert (found := ratio_by_seed(took(1.0, None), took(2.0, None))) is not None
    assert (found.times, found.seeds) == (2.0, 1)
