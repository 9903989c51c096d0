"""Quantization to uniform levels, and scaled sign: unbiased or contracting, by as much as they say."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pame.compressors import Quantize, Sign, expand
from pame.exchange import Vector
from pame.randomness import Key, Purpose, normals
from tests.pame.compressors.oracle import assert_mean, draws

KEY = Key(3, Purpose.COMPRESSION, 2, 7)
vectors = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6))


def steps(bits: int) -> int:
    return (1 << (bits - 1)) - 1


def expected_loss(x: Vector, bits: int) -> float:
    """E ||Q(x) - x||^2 by its definition: with chance p up and 1 - p down."""
    scale = np.abs(x).max()
    if scale == 0.0:
        return 0.0
    p = np.abs(x) / scale * steps(bits) % 1.0
    return float((p * (1 - p)).sum() * (scale / steps(bits)) ** 2)


@given(vectors, st.integers(2, 16))
def test_a_coordinate_goes_to_one_of_its_two_nearest_levels_and_the_largest_is_exact(x: Vector, bits: int) -> None:
    payload = Quantize(bits=bits).compress(x, KEY)
    scale = np.abs(x).max()
    assert payload.scale == scale
    assert np.abs(payload.levels).max() == (steps(bits) if scale else 0)
    y = expand(payload)
    assert (np.abs(y - x) <= scale / steps(bits) * (1 + 1e-9)).all()
    assert ((np.sign(y) == np.sign(x)) | (y == 0.0)).all()
    largest = np.abs(x) == scale
    assert y[largest].tolist() == x[largest].tolist()


@given(vectors, st.integers(2, 16))
def test_the_variance_is_at_most_what_is_promised_for_every_vector(x: Vector, bits: int) -> None:
    spec = Quantize(bits=bits)
    norm = float((x**2).sum())
    assert expected_loss(x, bits) <= spec.variance(x.size) * norm * (1 + 1e-9) + 1e-300


def worst_vector(n: int, bits: int, sign: int = 1) -> Vector:
    """A one, and all others where they lose most beside it."""
    p = 1 / (1 + sqrt(1 + (n - 1) / steps(bits) ** 2))
    return np.array([1.0, *[sign * p / steps(bits)] * (n - 1)])


@pytest.mark.parametrize("bits", [2, 3, 8])
@pytest.mark.parametrize("n", [2, 50, 1000])
def test_some_vector_has_the_whole_variance(bits: int, n: int) -> None:
    x = worst_vector(n, bits)
    assert expected_loss(x, bits) == pytest.approx(Quantize(bits=bits).variance(n) * float((x**2).sum()))


@pytest.mark.parametrize("bits", [2, 4])
def test_quantization_is_unbiased_and_loses_what_it_should(bits: int) -> None:
    # 4000 draws of 20 coordinates; each of 21 means within 5 standard errors: a false alarm in one of 80,000 seeds
    x = normals(Key(1, Purpose.FEATURES), 20)
    drawn = draws(Quantize(bits=bits), x)
    for each in range(20):
        assert_mean(drawn[:, each], x[each])
    assert_mean(((drawn - x) ** 2).sum(axis=1), expected_loss(x, bits))


@pytest.mark.parametrize("bits", [2, 4])
def test_scaled_down_it_contracts_by_what_it_says_and_no_more_in_the_worst_case(bits: int) -> None:
    # of the worst vector the mean loss is the bound; within 5 standard errors: a false alarm in one of 1,700,000 seeds
    x = worst_vector(50, bits, sign=-1)
    spec = Quantize(bits=bits, unbiased=False)
    loss = ((draws(spec, x) - x) ** 2).sum(axis=1)
    assert_mean(loss, (1 - 1 / (1 + spec.variance(50))) * float((x**2).sum()))


def test_sign_sends_the_mean_magnitude_and_zero_as_positive() -> None:
    payload = Sign().compress(np.array([3.0, -1.0, 0.0, -0.0]), KEY)
    assert expand(payload).tolist() == [1.0, -1.0, 1.0, 1.0]


@given(vectors)
def test_sign_loses_what_its_equation_says_and_at_most_1_minus_1_over_n(x: Vector) -> None:
    norm = float((x**2).sum())
    loss = float(((expand(Sign().compress(x, KEY)) - x) ** 2).sum())
    assert loss == pytest.approx(norm - float(np.abs(x).sum()) ** 2 / x.size, rel=1e-9, abs=1e-9 * norm)
    assert loss <= (1 - 1 / x.size) * norm * (1 + 1e-9) + 1e-9 * norm


def test_sign_contracts_least_where_one_coordinate_is_all_and_entirely_where_all_are_equal() -> None:
    one = np.array([0.0, -8.0, 0.0, 0.0])
    assert ((expand(Sign().compress(one, KEY)) - one) ** 2).sum() == (1 - 1 / 4) * 64.0
    equal = np.array([2.0, -2.0, 2.0])
    assert expand(Sign().compress(equal, KEY)).tolist() == equal.tolist()
