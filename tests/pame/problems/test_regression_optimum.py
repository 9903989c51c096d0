"""The optimum of a regression: stationary, best, and the least-squares solution where there is one."""

import numpy as np
import pytest

from pame.problems import LinearSpec, LogisticSpec, optimum
from pame.problems.regression import Regression
from tests.pame.problems.builders import Spec

SPECS: list[Spec] = [
    LinearSpec(n=30, samples=20),
    LinearSpec(n=30, samples=20, batch=3, feature_shift=10.0),
    LinearSpec(n=60, samples=8),
    LogisticSpec(n=30, samples=20),
    LogisticSpec(n=30, samples=200, soft=True, batch=5),
    LogisticSpec(n=60, samples=8, regularisation=1e-7, feature_shift=20.0),
]


def stacked_data(problem: Regression) -> tuple[np.ndarray, np.ndarray]:
    shards = [problem.shards.of(node) for node in range(problem.nodes)]
    return np.concatenate([s.features for s in shards]), np.concatenate([s.labels for s in shards])


def slow_gradient(spec: Spec, problem: Regression, model: np.ndarray) -> np.ndarray:
    features, labels = stacked_data(problem)
    scores = features @ model
    if isinstance(spec, LinearSpec):
        return np.asarray(features.T @ (scores - labels) / labels.size)
    predicted = 0.5 + 0.5 * np.tanh(scores / 2)
    return np.asarray(features.T @ (predicted - labels) / labels.size + spec.regularisation * model)


@pytest.mark.parametrize("spec", SPECS)
def test_the_gradient_vanishes_at_the_optimum(spec: Spec) -> None:
    problem = spec.build(5, 2)
    left = np.linalg.norm(slow_gradient(spec, problem, problem.optimum().model))
    assert left <= 1e-9 * np.linalg.norm(slow_gradient(spec, problem, np.zeros(spec.n)))


@pytest.mark.parametrize("spec", SPECS)
def test_no_perturbation_beats_the_optimum(spec: Spec) -> None:
    problem = spec.build(5, 2)
    best = problem.optimum()
    assert best.objective == pytest.approx(problem.objective(best.model), rel=1e-12)
    for seed, size in enumerate((1e-3, 1e-2, 1e-1, 1.0, 10.0)):
        step = size * np.random.default_rng(seed).normal(size=spec.n)
        assert problem.objective(best.model + step) > best.objective


@pytest.mark.parametrize("samples", [4, 10, 50])
def test_the_linear_optimum_is_the_least_squares_solution_of_least_norm(samples: int) -> None:
    problem = LinearSpec(n=40, samples=samples).build(5, 3)  # 20 samples for 40 unknowns, then 50, then 250
    expected = np.linalg.lstsq(*stacked_data(problem), rcond=None)[0]
    np.testing.assert_allclose(problem.optimum().model, expected, atol=1e-9)


def test_beyond_the_dense_limit_the_linear_optimum_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = LinearSpec(n=40, samples=30, feature_shift=3.0).build(5, 3)
    dense = problem.optimum()
    monkeypatch.setattr(optimum, "_DENSE", 39)
    iterative = problem.optimum()
    np.testing.assert_allclose(iterative.model, dense.model, atol=1e-10)
    assert dense.how.startswith("normal equations; gradient norm ")
    assert iterative.how.startswith("LSMR; gradient norm ")


def test_without_noise_the_linear_optimum_is_the_truth() -> None:
    problem = LinearSpec(n=40, samples=30, noise=0.0).build(5, 3)
    assert problem.metrics(problem.optimum().model)["model_error"] < 1e-20


def test_the_report_of_an_optimum_states_the_gradient_that_is_left() -> None:
    spec = LogisticSpec(n=30, samples=20)
    problem = spec.build(5, 2)
    best = problem.optimum()
    assert best.how.startswith("L-BFGS and Newton; gradient norm ")
    assert float(best.how.rsplit(" ", 1)[1]) < 1e-11


@pytest.mark.parametrize(
    ("spec", "nodes", "seed", "how", "tolerance"),
    [
        (LinearSpec(n=5, samples=50, feature_shift=1e9), 4, 2, "LSMR", 1e-6),  # numerically singular
        (LinearSpec(n=40, samples=30, feature_shift=1e5), 5, 3, "normal equations", 1e-9),  # after refinement
    ],
)
def test_a_badly_conditioned_problem_is_solved_as_well_as_by_least_squares(
    spec: LinearSpec, nodes: int, seed: int, how: str, tolerance: float
) -> None:
    problem = spec.build(nodes, seed)
    best = problem.optimum()
    assert best.how.startswith(how)
    expected = np.linalg.lstsq(*stacked_data(problem), rcond=None)[0]
    np.testing.assert_allclose(best.model, expected, atol=tolerance)


def test_newton_steps_that_overshoot_are_shortened() -> None:
    spec = LogisticSpec(n=200, samples=20, regularisation=1e-5, feature_shift=20.0)  # full steps stop at 7e-5
    problem = spec.build(4, 3)
    assert np.linalg.norm(slow_gradient(spec, problem, problem.optimum().model)) < 1e-11
