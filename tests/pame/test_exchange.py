"""Partial message exchange: what is revealed, how it is averaged, and that the average is unbiased (Theorem 1)."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, lcm

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from pame.exchange import PartialMessage, ValueType, Vector, aggregate, reveal
from pame.sampling import support

DENORMAL = 5e-324


def vector(*values: float) -> Vector:
    return np.array(values, dtype=np.float64)


def indices(*coordinates: int) -> NDArray[np.int64]:
    return np.array(coordinates, dtype=np.int64)


def slow_average(own: Vector, messages: dict[int, PartialMessage]) -> tuple[list[float], list[int]]:
    """Algorithm 2, one coordinate at a time."""
    revealed = {
        sender: dict(zip(message.support.tolist(), message.values.tolist(), strict=True))
        for sender, message in messages.items()
    }
    average, coverage = [], []
    for coordinate, own_value in enumerate(own.tolist()):
        total, count = 0.0, 0
        for sender in sorted(revealed):
            if coordinate in revealed[sender]:
                total += revealed[sender][coordinate]
                count += 1
        average.append(total / count if count else own_value)
        coverage.append(count)
    return average, coverage


def test_the_worked_example_of_the_design() -> None:
    own = vector(2, 8, 3, 6)
    messages = {
        2: reveal(vector(2, 8, 1, 4), indices(0, 3)),
        4: reveal(vector(4, 7, 2, 5), indices(2, 3)),
        5: reveal(vector(3, 6, 0, 6), indices(2, 3)),
    }
    result = aggregate(own, messages)
    assert result.coverage.tolist() == [1, 0, 2, 3]
    assert result.average.tolist() == [2.0, 8.0, 1.0, 5.0]
    assert str(messages[5]) == "[·, ·, ★, 6]"


def test_a_message_shows_dots_outside_its_support_and_stars_for_true_zeros() -> None:
    message = reveal(vector(1.5, 0.0, -0.0, -2.0, 9.0), indices(0, 1, 2, 3))
    assert str(message) == "[1.5, ★, -0, -2, ·]"
    assert str(reveal(vector(1.0, 2.0), indices())) == "[·, ·]"


def test_negative_zero_and_denormals_are_values_and_keep_their_bits() -> None:
    model = vector(-0.0, 0.0, DENORMAL, -DENORMAL, 1.0)
    message = reveal(model, indices(0, 1, 2, 3, 4))
    assert message.stars.tolist() == [False, True, False, False, False]
    assert message.values.tobytes() == model.tobytes()


def test_a_lone_denormal_is_its_own_average() -> None:
    result = aggregate(vector(7.0, 7.0), {3: reveal(vector(DENORMAL, -DENORMAL), indices(0, 1))})
    assert result.average.tolist() == [DENORMAL, -DENORMAL]


def test_a_message_is_not_a_view_into_the_model() -> None:
    model = vector(1.0, 2.0, 3.0)
    message = reveal(model, indices(0, 1, 2))
    model[:] = 0.0
    assert message.values.tolist() == [1.0, 2.0, 3.0]


def test_values_are_rounded_to_float32_before_stars_are_found() -> None:
    # the smallest float32 is 2^-149, about 1.4e-45; half of it and less rounds to zero
    model = vector(1e-60, -1e-60, 2.0**-150, 2.0**-149, 1.0 + 2.0**-30, 0.1)
    message = reveal(model, np.arange(6), ValueType.FLOAT32)
    assert message.stars.tolist() == [True, False, True, False, False, False]
    assert message.values.tolist() == [0.0, 0.0, 0.0, 2.0**-149, 1.0, 13421773 / 2**27]
    assert np.signbit(message.values).tolist() == [False, True, False, False, False, False]
    assert message.values.dtype == np.float64
    assert str(message).startswith("[★, -0, ★, 1.4013e-45, 1, 0.1")


def test_without_float32_the_same_values_are_no_stars() -> None:
    message = reveal(vector(1e-60, -1e-60), indices(0, 1))
    assert not message.stars.any()
    assert message.values.tolist() == [1e-60, -1e-60]


def test_a_value_too_large_for_float32_becomes_infinite_without_a_warning() -> None:
    assert reveal(vector(1e300, -1e39), indices(0, 1), ValueType.FLOAT32).values.tolist() == [np.inf, -np.inf]


def test_the_types_on_the_wire_are_little_endian() -> None:
    assert (ValueType.FLOAT64.dtype.str, ValueType.FLOAT32.dtype.str) == ("<f8", "<f4")
    assert [int(kind) for kind in (ValueType.FLOAT64, ValueType.FLOAT32)] == [0, 1]


def test_a_true_zero_inside_the_support_counts_towards_coverage() -> None:
    zeros = vector(0.0, -0.0, 0.0)
    result = aggregate(vector(5.0, 5.0, 5.0), {1: reveal(zeros, indices(0, 1)), 2: reveal(zeros + 4.0, indices(0))})
    assert result.coverage.tolist() == [2, 1, 0]
    assert result.average.tolist() == [2.0, 0.0, 5.0]


def test_the_own_value_counts_only_where_nobody_sent() -> None:
    result = aggregate(vector(100.0, 100.0), {0: reveal(vector(1.0, 3.0), indices(0))})
    assert result.average.tolist() == [1.0, 100.0]


def test_with_no_message_the_average_is_a_copy_of_the_own_model() -> None:
    own = vector(1.0, -0.0, DENORMAL)
    result = aggregate(own, {})
    assert result.average.tobytes() == own.tobytes()
    assert not np.shares_memory(result.average, own)
    assert result.coverage.tolist() == [0, 0, 0]


def test_aggregation_changes_neither_the_own_model_nor_the_messages() -> None:
    own, sent = vector(1.0, 2.0), vector(3.0, 4.0)
    message = reveal(sent, indices(0, 1))
    aggregate(own, {1: message, 2: message})
    assert own.tolist() == [1.0, 2.0]
    assert message.values.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (1, 3, 2), (3, 1, 2)])
def test_sums_run_in_ascending_order_of_the_sender_whatever_order_the_messages_came_in(order: tuple[int, ...]) -> None:
    # (1e16 + 1) - 1e16 = 0 in doubles, while (1e16 - 1e16) + 1 = 1
    values = {1: 1e16, 2: 1.0, 3: -1e16}
    messages = {sender: reveal(vector(values[sender]), indices(0)) for sender in order}
    assert aggregate(vector(9.0), messages).average.tolist() == [0.0]


FLOATS = st.floats(-1e17, 1e17, allow_subnormal=True)


@st.composite
def exchanges(draw: st.DrawFn) -> tuple[Vector, dict[int, PartialMessage]]:
    n = draw(st.integers(1, 8))
    own = np.array(draw(st.lists(FLOATS, min_size=n, max_size=n)))
    messages = {}
    for sender in draw(st.lists(st.integers(0, 40), unique=True, max_size=6)):
        coordinates = np.array(sorted(draw(st.sets(st.integers(0, n - 1)))), dtype=np.int64)
        values = draw(st.lists(FLOATS, min_size=coordinates.size, max_size=coordinates.size))
        messages[sender] = PartialMessage(n, coordinates, np.array(values, dtype=np.float64))
    return own, messages


@settings(deadline=None, max_examples=300)
@given(exchanges())
def test_averages_equal_a_slow_sum_in_a_dictionary_bit_for_bit(
    exchange: tuple[Vector, dict[int, PartialMessage]],
) -> None:
    own, messages = exchange
    average, coverage = slow_average(own, messages)
    result = aggregate(own, messages)
    assert result.average.tobytes() == np.array(average).tobytes()
    assert result.coverage.tolist() == coverage


@pytest.mark.parametrize(("n", "s", "q"), [(4, 1, 1), (4, 1, 3), (4, 2, 3), (5, 2, 3), (3, 2, 4), (4, 3, 3), (3, 3, 2)])
def test_over_all_supports_the_average_is_exactly_unbiased_and_the_naive_one_shrinks(n: int, s: int, q: int) -> None:
    # Multiples of lcm(1..q) make every division by a coverage exact in doubles, so the code's own sums can be
    # enumerated without rounding.
    unit = lcm(*range(1, q + 1))
    models = [np.array([unit * (7 * j * j - 5 * coordinate + 3) for coordinate in range(n)], float) for j in range(q)]
    mean = [Fraction(sum(int(model[coordinate]) for model in models), q) for coordinate in range(n)]
    supports = [indices(*chosen) for chosen in combinations(range(n), s)]
    average, naive, covered = [Fraction(0)] * n, [Fraction(0)] * n, [0] * n
    for drawn in product(supports, repeat=q):
        messages = {j: reveal(model, chosen) for j, (model, chosen) in enumerate(zip(models, drawn, strict=True))}
        result = aggregate(np.full(n, 1e6), messages)
        for coordinate in np.flatnonzero(result.coverage).tolist():
            value, count = Fraction(result.average[coordinate]), int(result.coverage[coordinate])
            average[coordinate] += value
            naive[coordinate] += value * count / q
            covered[coordinate] += 1
    p = Fraction(s, n)
    shrinkage = p / (1 - (1 - p) ** q)  # Theorem 1: E[lambda / q | lambda > 0], lambda binomial(q, p)
    assert covered == [comb(n, s) ** q - comb(n - 1, s) ** q] * n
    assert [total / times for total, times in zip(average, covered, strict=True)] == mean
    assert [total / times for total, times in zip(naive, covered, strict=True)] == [shrinkage * m for m in mean]


def test_through_the_real_draws_the_average_is_unbiased_and_the_naive_one_shrinks_as_predicted() -> None:
    # One z-test per coordinate and average, 24 in all, false alarm 1e-6 together (Bonferroni, normal approximation)
    n, s, senders, draws = 12, 3, (2, 3, 5, 8), 3000
    models = {j: np.cos(np.arange(1, n + 1) * (j + 1.0)) * 10.0 + 5.0 for j in senders}
    mean = np.mean([models[j] for j in senders], axis=0)
    average, naive = np.full((draws, n), np.nan), np.full((draws, n), np.nan)
    for k in range(draws):
        messages = {j: reveal(models[j], support(99, j, k, n, s)) for j in senders}
        result = aggregate(np.full(n, 1e3), messages)
        seen = result.coverage > 0
        average[k, seen] = result.average[seen]
        naive[k, seen] = (result.average * result.coverage / len(senders))[seen]
    bound = norm.isf(1e-6 / (2 * 2 * n))
    shrinkage = 0.25 / (1 - 0.75**4)
    for sample, expected in ((average, mean), (naive, shrinkage * mean)):
        deviation = np.nanstd(sample, axis=0) / np.sqrt(np.count_nonzero(~np.isnan(sample), axis=0))
        assert np.all(np.abs(np.nanmean(sample, axis=0) - expected) < bound * deviation)
