"""A model that leaves the finite numbers ends the run with an error that says where and why."""

from dataclasses import replace

import numpy as np
import pytest

from pame.algorithms import AlgorithmSpec, Context, DpsgdSpec, FixedStep, PameSpec, PenaltyStep, Selection
from pame.algorithms.gradient_step import check_finite
from pame.errors import Diverged, PameError
from tests.pame.algorithms.builders import Constant, graph, setting_of
from tests.pame.algorithms.harness import simulated

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
    selection = Selection(1, graph(), (1,) * 6, spec.share)
    slope = np.array([0.0, bad, 0.0])
    node = spec.node(Context(1, 0, graph(), selection, Constant(slope), np.zeros(3)))
    with pytest.raises(
        Diverged, match=rf"node 0 diverged at iteration 17 with step size {size}: make the step smaller"
    ):
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
