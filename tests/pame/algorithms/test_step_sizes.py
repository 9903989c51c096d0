"""Step sizes: the formulas in exact arithmetic, and that they stay finite for ever."""

from fractions import Fraction
from math import isfinite

import pytest

from pame.algorithms import DpsgdSpec, FixedStep, PameSpec, PenaltyStep


@pytest.mark.parametrize("k", [0, 1, 7, 100, 2000])
@pytest.mark.parametrize("t", [1, 3, 30])
def test_the_penalty_step_is_one_over_sigma_gamma_to_the_k_times_t(k: int, t: int) -> None:
    exact = 1 / (Fraction(5) * Fraction(1.005) ** k * t)
    assert PenaltyStep(sigma0=5.0, gamma=1.005).size(k, t) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("k", [0, 1, 7, 100, 2000])
def test_the_fixed_step_is_eta_over_gamma_to_the_k_whatever_the_participation(k: int) -> None:
    exact = Fraction(0.055) / Fraction(1.005) ** k
    sizes = {FixedStep(eta=0.055, gamma=1.005).size(k, t) for t in (1, 3, 30)}
    assert len(sizes) == 1
    assert sizes.pop() == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("step", [PenaltyStep(sigma0=1.0, gamma=1.005), FixedStep(eta=0.1, gamma=1.005)])
def test_a_million_iterations_on_the_step_has_vanished_but_is_finite(step: PenaltyStep | FixedStep) -> None:
    # gamma^k would be 10^2166, beyond the doubles
    assert isfinite(step.size(10**6, 3))
    assert 0.0 <= step.size(10**6, 3) < 1e-300
    assert step.size(10**5, 3) == pytest.approx(step.size(0, 3) * 1.005**-100_000, rel=1e-9)


def test_without_growth_the_step_stays_what_it_was() -> None:
    assert PenaltyStep(sigma0=2.0, gamma=1.0).size(10**6, 5) == pytest.approx(0.1, rel=1e-15)
    assert FixedStep(eta=0.3, gamma=1.0).size(10**6, 5) == pytest.approx(0.3, rel=1e-15)


def test_the_first_step_is_the_one_at_iteration_zero() -> None:
    assert PameSpec(step=PenaltyStep(sigma0=4.0)).first_step(5) == pytest.approx(1 / 20, rel=1e-15)
    assert PameSpec(step=FixedStep(eta=0.25)).first_step(5) == pytest.approx(0.25, rel=1e-15)
    assert DpsgdSpec(eta=0.125).first_step(5) == 0.125


def test_a_step_says_whether_it_is_the_printed_one() -> None:
    assert PenaltyStep().words == "1/(sigma^k t_i), sigma0 = 1, gamma = 1.005 (as printed)"
    assert FixedStep(eta=0.05).words == "fixed, 0.05/1.005^k (independent of t)"
    assert FixedStep(eta=0.05, gamma=1.0).words == "fixed, 0.05 (independent of t)"
