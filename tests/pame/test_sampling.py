"""The draws of the algorithms: what they depend on, and that they are uniform."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, chi2, chisquare

from pame.randomness import Key, Purpose, uniforms
from pame.sampling import batch, candidates, message_lost, participation, period, support


def test_the_draws_never_change() -> None:
    # worked out once with Philox and the documented rules in plain Python (see randomness/oracle.py)
    assert support(1, 2, 3, 20, 6).tolist() == [1, 5, 8, 9, 12, 14]
    assert candidates(1, 2, 3, (10, 11, 12, 13, 14, 15, 16, 17), 3) == (13, 15, 17)
    assert batch(1, 2, 3, 12, 5).tolist() == [2, 5, 6, 7, 9]
    assert [period(1, node, 3, 7) for node in range(8)] == [7, 3, 4, 4, 7, 7, 3, 3]
    assert [message_lost(1, 0, 1, k, 0.5) for k in range(8)] == [True, False, True, False, False, True, False, False]


@pytest.mark.parametrize(
    "draw",
    [
        lambda seed, node, k: tuple(support(seed, node, k, 50, 10).tolist()),
        lambda seed, node, k: candidates(seed, node, k, range(10, 38), 9),
    ],
    ids=["supports", "candidates"],
)
def test_a_draw_is_a_function_of_seed_node_and_iteration_whatever_was_drawn_before(
    draw: Callable[[int, int, int], tuple[int, ...]],
) -> None:
    keys = [(seed, node, k) for seed in (1, 2) for node in range(5) for k in range(6)]
    forwards = {key: draw(*key) for key in keys}
    assert forwards == {key: draw(*key) for key in reversed(keys)}
    assert len(set(forwards.values())) == len(keys)


def test_supports_candidates_and_batches_of_one_node_and_iteration_are_different_draws() -> None:
    drawn = {
        tuple(support(1, 2, 3, 100, 20).tolist()),
        tuple(batch(1, 2, 3, 100, 20).tolist()),
        candidates(1, 2, 3, range(100), 20),
    }
    assert len(drawn) == 3


def test_every_set_of_neighbours_is_equally_likely() -> None:
    # chi-square over the C(6,3) = 20 sets, false alarm 1e-6
    neighbours = (2, 3, 5, 7, 11, 13)
    counts = Counter(candidates(41, 4, k, neighbours, 3) for k in range(8000))
    assert set(counts) == set(combinations(neighbours, 3))
    assert chisquare([counts[c] for c in combinations(neighbours, 3)]).pvalue > 1e-6


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_candidates_are_ascending_neighbours_without_repetition(count: int) -> None:
    for k in range(50):
        drawn = candidates(5, 1, k, (0, 8, 9, 30), count)
        assert len(drawn) == count
        assert list(drawn) == sorted(set(drawn))
        assert set(drawn) <= {0, 8, 9, 30}


def test_two_nodes_choose_independently_of_each_other() -> None:
    # 4 x 4 table of the choices of node 0 and node 1 among four neighbours, chi-square at 1e-6
    table = Counter((candidates(6, 0, k, range(4), 1), candidates(6, 1, k, range(4), 1)) for k in range(6400))
    assert chisquare([table[(a,), (b,)] for a in range(4) for b in range(4)]).pvalue > 1e-6


def test_every_sample_is_as_likely_to_be_in_a_batch_as_any_other() -> None:
    # (n-1)/n sum (count - Tp)^2 / (Tp(1-p)) is nearly chi-square with n-1 degrees of freedom; false alarm 1e-6
    samples, size, draws = 40, 12, 3000
    counts = np.zeros(samples)
    for k in range(draws):
        rows = batch(7, 3, k, samples, size)
        assert rows.size == size
        counts[rows] += 1
    p = size / samples
    statistic = (samples - 1) / samples * float(((counts - draws * p) ** 2).sum()) / (draws * p * (1 - p))
    assert statistic < chi2.isf(1e-6, samples - 1)


def test_a_batch_of_all_samples_is_all_samples_in_order() -> None:
    assert batch(7, 3, 1, 9, 9).tolist() == list(range(9))


def test_periods_are_uniform_with_both_ends_included() -> None:
    # chi-square over 3..7, false alarm 1e-6
    counts = Counter(period(8, node, 3, 7) for node in range(5000))
    assert set(counts) == {3, 4, 5, 6, 7}
    assert chisquare(list(counts.values())).pvalue > 1e-6


def test_a_range_of_one_period_is_that_period() -> None:
    assert {period(seed, node, 4, 4) for seed in range(5) for node in range(5)} == {4}


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.5, 0.97])
def test_messages_are_lost_at_the_asked_rate(rate: float) -> None:
    # binomial bounds, false alarm 1e-6 each
    links = [(sender, receiver, k) for sender in range(10) for receiver in range(10) for k in range(60)]
    lost = sum(message_lost(9, *link, rate) for link in links)
    assert binom.ppf(5e-7, len(links), rate) <= lost <= binom.ppf(1 - 5e-7, len(links), rate)


def test_at_rate_zero_nothing_is_lost_and_at_rate_one_everything() -> None:
    links = [(sender, receiver, k) for sender in range(5) for receiver in range(5) for k in range(40)]
    assert not any(message_lost(10, *link, 0.0) for link in links)
    assert all(message_lost(10, *link, 1.0) for link in links)


def test_a_message_is_lost_if_its_uniform_number_is_below_the_rate_and_not_if_it_equals_it() -> None:
    u = float(uniforms(Key(10, Purpose.MESSAGE_LOSS, node=3, iteration=5, peer=4), 1)[0])
    assert not message_lost(10, 3, 4, 5, u)
    assert message_lost(10, 3, 4, 5, float(np.nextafter(u, 1.0)))


def test_the_two_directions_of_an_edge_lose_different_messages() -> None:
    there = [message_lost(11, 0, 1, k, 0.5) for k in range(64)]
    back = [message_lost(11, 1, 0, k, 0.5) for k in range(64)]
    assert there != back


def test_what_is_lost_at_a_low_rate_is_also_lost_at_a_higher_one() -> None:
    for k in range(300):
        low, high = message_lost(12, 3, 4, k, 0.1), message_lost(12, 3, 4, k, 0.3)
        assert high or not low


@pytest.mark.parametrize(
    ("nu", "degree", "t"),
    [
        (0.2, 15, 3),
        (0.2, 16, 4),
        (0.2, 5, 1),
        (0.2, 6, 2),
        (0.55, 100, 55),  # 0.55 * 100 = 55.00000000000001 in doubles
        (0.07, 100, 7),  # 0.07 * 100 = 7.000000000000001
        (0.1, 30, 3),
        (1 / 3, 3, 1),
        (0.5, 5, 3),
        (0.5, 1, 1),
        (0.2, 1, 1),
        (1e-12, 7, 1),
        (0.999, 10, 10),
        (1.0, 7, 7),
        (1.0, 1, 1),
    ],
)
def test_participation_is_the_ceiling_of_the_share_at_least_one_and_at_most_all(nu: float, degree: int, t: int) -> None:
    assert participation(nu, degree) == t
