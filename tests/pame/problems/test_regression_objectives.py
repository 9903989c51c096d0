"""Values, gradients and smoothness of the regressions, against slow and obvious re-implementations."""

from collections.abc import Iterator
from math import exp, log1p

import numpy as np
import pytest

from pame import sampling
from pame.exchange import Vector
from pame.problems import LinearSpec, LogisticSpec
from pame.problems.logistic import CrossEntropy, sigmoid
from pame.problems.regression import Regression
from tests.pame.problems.builders import Spec

SPECS: list[Spec] = [
    LinearSpec(n=7, samples=12, test_samples=30),
    LinearSpec(n=9, samples=4, batch=3, test_samples=30, feature_shift=2.0),
    LogisticSpec(n=7, samples=12, test_samples=30),
    LogisticSpec(n=9, samples=4, batch=3, test_samples=30, label_skew=0.5, feature_shift=1.0, truth_shift=1.0),
    LogisticSpec(n=5, samples=8, soft=True, regularisation=0.3, test_samples=30),
]


def model_of(n: int, seed: int = 0) -> Vector:
    return np.random.default_rng(seed).normal(size=n)


def scores(problem: Regression, node: int, model: Vector, rows: list[int]) -> Iterator[tuple[int, float, float]]:
    """<a, w> and b of each of these samples."""
    shard = problem.shards.of(node)
    for j in rows:
        yield j, sum(float(a) * float(w) for a, w in zip(shard.features[j], model, strict=True)), float(shard.labels[j])


def slow_value(spec: Spec, problem: Regression, node: int, model: Vector, rows: list[int]) -> float:
    total = 0.0
    for _, z, b in scores(problem, node, model, rows):
        total += (z - b) ** 2 / 2 if isinstance(spec, LinearSpec) else max(z, 0.0) + log1p(exp(-abs(z))) - b * z
    mean = total / len(rows)
    return mean if isinstance(spec, LinearSpec) else mean + spec.regularisation / 2 * sum(float(w) ** 2 for w in model)


def slow_gradient(spec: Spec, problem: Regression, node: int, model: Vector, rows: list[int]) -> Vector:
    shard, total = problem.shards.of(node), np.zeros(spec.n)
    for j, z, b in scores(problem, node, model, rows):
        residual = z - b if isinstance(spec, LinearSpec) else 1 / (1 + exp(-z)) - b
        for coordinate in range(spec.n):
            total[coordinate] += residual * shard.features[j, coordinate] / len(rows)
    return total if isinstance(spec, LinearSpec) else total + spec.regularisation * model


def rows_of(spec: Spec, seed: int, node: int, iteration: int) -> list[int]:
    if spec.batch is None:
        return list(range(spec.samples))
    return [int(row) for row in sampling.batch(seed, node, iteration, spec.samples, spec.batch)]


@pytest.mark.parametrize("spec", SPECS)
def test_a_value_is_the_mean_loss_over_all_samples_of_the_node(spec: Spec) -> None:
    problem, model = spec.build(3, 5), model_of(spec.n)
    expected = slow_value(spec, problem, 1, model, list(range(spec.samples)))
    assert problem.local(1).value(model) == pytest.approx(expected, rel=1e-12)
    assert problem.local(1).samples == spec.samples


@pytest.mark.parametrize("spec", SPECS)
def test_a_gradient_is_the_mean_over_the_batch_one_sample_at_a_time(spec: Spec) -> None:
    problem, model = spec.build(3, 5), model_of(spec.n)
    for iteration in (0, 1, 17):
        expected = slow_gradient(spec, problem, 2, model, rows_of(spec, 5, 2, iteration))
        np.testing.assert_allclose(problem.local(2).gradient(model, iteration), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.batch is None])
def test_a_gradient_is_the_central_difference_of_the_value(spec: Spec) -> None:
    local, model, h = spec.build(2, 8).local(0), model_of(spec.n), 1e-5
    differences = [(local.value(model + h * e) - local.value(model - h * e)) / (2 * h) for e in np.eye(spec.n)]
    np.testing.assert_allclose(local.gradient(model, 0), differences, rtol=1e-6, atol=1e-8)


def test_another_iteration_uses_another_batch_and_the_same_one_the_same() -> None:
    local, model = LinearSpec(n=6, samples=50, batch=5).build(1, 3).local(0), model_of(6)
    assert np.array_equal(local.gradient(model, 4), local.gradient(model, 4))
    assert not np.array_equal(local.gradient(model, 4), local.gradient(model, 5))


def test_a_batch_of_all_samples_is_the_full_gradient() -> None:
    model = model_of(6)
    full = LinearSpec(n=6, samples=20).build(1, 3).local(0).gradient(model, 0)
    assert np.array_equal(LinearSpec(n=6, samples=20, batch=20).build(1, 3).local(0).gradient(model, 0), full)


@pytest.mark.parametrize("spec", SPECS)
def test_the_objective_is_the_mean_of_the_values(spec: Spec) -> None:
    problem, model = spec.build(4, 2), model_of(spec.n)
    expected = sum(slow_value(spec, problem, node, model, list(range(spec.samples))) for node in range(4)) / 4
    assert problem.objective(model) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("samples", [5, 40])
def test_smoothness_bounds_the_largest_singular_value_from_above_and_tightly(samples: int) -> None:
    for kind in (LinearSpec(n=17, samples=samples), LogisticSpec(n=17, samples=samples, regularisation=0.02)):
        problem = kind.build(2, 4)
        largest = float(np.linalg.svd(problem.shards.of(1).features, compute_uv=False)[0])
        expected = largest**2 / samples if isinstance(kind, LinearSpec) else largest**2 / (4 * samples) + 0.02
        found = problem.local(1).smoothness()
        assert expected <= found <= expected * (1 + 1e-9)


def test_the_logistic_loss_and_slope_are_exact_far_out() -> None:
    family = CrossEntropy(soft=False, regularisation=0.001)
    scores, labels = np.array([1e4, 1e4, -1e4, -1e4, 0.0, 800.0]), np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.25])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert family.loss(scores, labels).tolist() == [1e4, 0.0, 0.0, 1e4, np.log(2.0), 600.0]
        assert family.slope(scores, labels).tolist() == [1.0, 0.0, 0.0, -1.0, -0.5, 0.75]
        assert family.curvature(scores).tolist() == [0.0, 0.0, 0.0, 0.0, 0.25, 0.0]


def test_the_sigmoid_keeps_its_relative_accuracy_in_the_tail() -> None:
    assert sigmoid(np.array([-700.0, -30.0, 2.0])) == pytest.approx([exp(-700), exp(-30), 1 / (1 + exp(-2))], rel=1e-12)


def test_a_logistic_node_with_a_huge_model_stays_finite() -> None:
    spec = LogisticSpec(n=10, samples=50)
    local = spec.build(1, 1).local(0)
    model = 1e4 * model_of(10)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert np.isfinite(local.value(model))
        assert np.all(np.isfinite(local.gradient(model, 0)))


def test_the_logistic_curvature_is_the_central_difference_of_the_slope() -> None:
    family, h, scores = CrossEntropy(soft=False, regularisation=0.001), 1e-5, np.linspace(-6, 6, 25)
    zero = np.zeros_like(scores)
    difference = (family.slope(scores + h, zero) - family.slope(scores - h, zero)) / (2 * h)
    np.testing.assert_allclose(family.curvature(scores), difference, rtol=1e-5)


def test_a_test_mse_of_two_samples_worked_out_by_hand() -> None:
    # predictions 1 and 2, labels 0 and 4: (1 + 4) / 2
    problem = LinearSpec(n=2, samples=1, test_samples=2).build(1, 1)
    test = problem.shards.test()
    test.features[:], test.labels[:] = [[1.0, 0.0], [0.0, 1.0]], [0.0, 4.0]
    problem.shards.truth[:] = [1.0, -1.0]
    assert problem.metrics(np.array([1.0, 2.0])) == {"test_mse": 2.5, "model_error": 9.0}
    assert problem.metric == "test_mse"


def test_a_test_accuracy_of_four_samples_worked_out_by_hand() -> None:
    # predictions 1, 0, 1, 0; hard labels 1, 1, 0, 0: the first and the last are right
    problem = LogisticSpec(n=1, samples=1, test_samples=4).build(1, 1)
    test = problem.shards.test()
    test.features[:], test.labels[:] = [[2.0], [-1.0], [0.5], [-3.0]], [1.0, 0.6, 0.4, 0.0]
    problem.shards.truth[:] = [0.5]
    assert problem.metrics(np.array([1.0])) == {"test_accuracy": 0.5, "model_error": 0.25}
    assert problem.metric == "test_accuracy"
