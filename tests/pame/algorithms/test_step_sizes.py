"""Step sizes: the formulas in exact arithmetic; a model that leaves the finite numbers says where and why."""

from dataclasses import replace
from fractions import Fraction
from math import isfinite

import numpy as np
import pytest

from pame.algorithms import AlgorithmSpec, DpsgdSpec, FixedStep, PameSpec, PenaltyStep
from pame.algorithms.gradient_step import check_finite
from pame.errors import Diverged, PameError
from tests.pame.algorithms.builders import Constant, context_of, graph, setting_of
from tests.pame.algorithms.harness import simulated


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


SPECS: list[tuple[AlgorithmSpec, str]] = [
    (PameSpec(participation=0.5, step=PenaltyStep(sigma0=2.0, gamma=1.0)), "0.167"),  # 1 / (2 * 3)
    (PameSpec(step=FixedStep(eta=0.25, gamma=1.0)), "0.25"),
    (DpsgdSpec(eta=0.125), "0.125"),
]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("spec", "size"), SPECS, ids=["penalty", "fixed", "dpsgd"])
def test_a_gradient_that_is_not_finite_names_node_iteration_and_step_size(
    spec: AlgorithmSpec, size: str, bad: float
) -> None:
    slope = np.array([0.0, bad, 0.0])
    node = spec.node(context_of(np.zeros(3), Constant(slope), graph(), share=spec.share))
    words = rf"node 0 diverged at iteration 17 with step size {size}: make the step smaller"
    with pytest.raises(Diverged, match=words):
        node.step(17)


def test_divergence_is_a_mistake_of_the_user() -> None:
    assert issubclass(Diverged, PameError)


def test_large_but_finite_models_are_no_divergence() -> None:
    model = np.array([1e300, -1e300, 0.0])  # the sum of squares overflows
    assert check_finite(model, 0, 0, 0.1) is model


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_coordinate_among_many_is_found(bad: float) -> None:
    model = np.ones(1000)
    model[617] = bad
    with pytest.raises(Diverged, match="node 4 diverged at iteration 9 with step size 1e-05"):
        check_finite(model, 4, 9, 1e-5)


@pytest.mark.parametrize(
    "spec", [PameSpec(step=FixedStep(eta=1e6, gamma=1.0)), DpsgdSpec(eta=1e6)], ids=["pame", "dpsgd"]
)
def test_a_run_with_far_too_large_a_step_ends_in_divergence(spec: AlgorithmSpec) -> None:
    setting = replace(setting_of(spec, iterations=200), evaluate_every=200)
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(Diverged, match=r"node \d diverged at iteration \d"),
    ):
        simulated(setting)
