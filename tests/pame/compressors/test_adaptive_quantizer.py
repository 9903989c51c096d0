"""The adaptive non-uniform quantizer: its levels, its rule |error| <= eta + omega |x|, and that it is unbiased."""

from math import inf, sqrt
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pame.compressors import AdaptiveQuantizer, expand
from pame.compressors.growing_levels import MAX_RUNG, climb, heights
from pame.exchange import Vector
from pame.randomness import Key, Purpose, normals
from tests.pame.compressors.oracle import assert_mean, draws

KEY = Key(3, Purpose.COMPRESSION, 2, 0)
vectors = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e9, 1e9))
etas, omegas = st.floats(1e-9, 1e3), st.floats(0.001, 0.95)
Rounding = Literal["probabilistic", "deterministic"]


def growth(omega: float, rounding: Rounding) -> float:
    return (omega + sqrt(1 + omega**2)) ** 2 if rounding == "probabilistic" else (1 + omega) / (1 - omega)


@pytest.mark.parametrize("rounding", ["probabilistic", "deterministic"])
@pytest.mark.parametrize("omega", [0.001, 0.1, 0.6])
def test_level_l_stands_for_eta_over_omega_times_a_to_the_l_minus_one(rounding: Rounding, omega: float) -> None:
    payload = AdaptiveQuantizer(eta=0.5, omega=omega, rounding=rounding).compress(np.ones(1), KEY)
    levels = np.arange(300)
    expected = 0.5 / omega * np.expm1(levels * np.log(growth(omega, rounding)))
    np.testing.assert_allclose(heights(payload.first, payload.growth, levels), expected, rtol=1e-12)


@given(vectors, etas, omegas)
def test_rounded_to_the_nearest_the_error_keeps_the_rule_at_every_coordinate(
    x: Vector, eta: float, omega: float
) -> None:
    y = expand(AdaptiveQuantizer(eta=eta, omega=omega, rounding="deterministic").compress(x, KEY))
    assert (np.abs(y - x) <= (eta + omega * np.abs(x)) * (1 + 1e-9)).all()
    assert ((np.sign(y) == np.sign(x)) | (y == 0.0)).all()


@given(vectors, etas, omegas)
def test_rounded_at_random_a_value_lies_between_neighbouring_levels_whose_mean_square_error_keeps_the_rule(
    x: Vector, eta: float, omega: float
) -> None:
    payload = AdaptiveQuantizer(eta=eta, omega=omega).compress(x, KEY)
    levels, low = climb(payload.first, payload.growth, np.abs(x))
    high = heights(payload.first, payload.growth, levels + 1)
    chosen = np.abs(payload.levels)
    assert ((chosen == levels) | (chosen == levels + 1)).all()
    assert (low <= np.abs(x)).all()
    assert (np.abs(x) <= high * (1 + 1e-12)).all()
    mean_square = (high - np.abs(x)) * (np.abs(x) - low)
    assert (mean_square <= (eta + omega * np.abs(x)) ** 2 * (1 + 1e-9)).all()


@pytest.mark.parametrize("omega", [0.01, 0.3])
def test_the_rule_is_used_up_somewhere_between_every_two_levels(omega: float) -> None:
    eta = 0.25
    nearest = AdaptiveQuantizer(eta=eta, omega=omega, rounding="deterministic").compress(np.ones(1), KEY)
    rungs = heights(nearest.first, nearest.growth, np.arange(20))
    middle = (rungs[1:] + rungs[:-1]) / 2
    np.testing.assert_allclose((rungs[1:] - rungs[:-1]) / 2, eta + omega * middle, rtol=1e-12)
    random = AdaptiveQuantizer(eta=eta, omega=omega).compress(np.ones(1), KEY)
    rungs = heights(random.first, random.growth, np.arange(20))
    between = np.linspace(rungs[:-1], rungs[1:], 2001)
    shares = (rungs[1:] - between) * (between - rungs[:-1]) / (eta + omega * between) ** 2
    np.testing.assert_allclose(shares.max(axis=0), 1.0, rtol=1e-5)


def test_random_rounding_is_unbiased() -> None:
    # 4000 draws of 20 coordinates, each mean within 5 standard errors: a false alarm in one of 85,000 seeds
    x = normals(Key(1, Purpose.FEATURES), 20)
    drawn = draws(AdaptiveQuantizer(eta=0.1, omega=0.4, shrink=1.0), x)
    for each in range(20):
        assert_mean(drawn[:, each], x[each])


def test_the_absolute_error_shrinks_with_the_iteration_and_never_becomes_zero() -> None:
    spec = AdaptiveQuantizer(eta=0.5, shrink=0.5, rounding="deterministic")
    x = normals(Key(1, Purpose.FEATURES), 100) * 1e-4
    for k in (0, 3, 10):
        y = expand(spec.compress(x, Key(1, Purpose.COMPRESSION, 1, k)))
        assert (np.abs(y - x) <= 0.5 * 0.5**k + spec.omega * np.abs(x)).all()
    assert not expand(spec.compress(x, Key(1, Purpose.COMPRESSION, 1, 3))).any()
    assert spec.error(10**6) > 0.0
    late = expand(spec.compress(x, Key(1, Purpose.COMPRESSION, 1, 10**6)))
    assert (np.abs(late - x) <= spec.omega * np.abs(x)).all()


@given(vectors, etas, st.floats(1.0, 9.0))
def test_a_height_that_was_climbed_has_the_bits_of_the_height_looked_up(x: Vector, first: float, factor: float) -> None:
    rungs, reached = climb(first, factor, np.minimum(np.abs(x), first * 1e6))
    assert heights(first, factor, rungs).tobytes() == reached.tobytes()
    many = np.resize(rungs, 100)
    assert heights(first, factor, many).tobytes() == np.resize(reached, 100).tobytes()


def test_heights_beyond_the_doubles_are_infinite_and_the_highest_rung_is_within_reach() -> None:
    assert heights(1.0, 2.0, np.array([0, 1, 1023, 1025, MAX_RUNG])).tolist() == [0.0, 1.0, 2.0**1023, inf, inf]
    assert heights(2.0, 1.0, np.array([MAX_RUNG])).tolist() == [2.0 * MAX_RUNG]
