"""The laws of the generated data. Seeds are fixed; "5 sigma" means a false alarm in 2 of a million other seeds."""

from math import sqrt

import numpy as np
import pytest

from pame.exchange import Vector
from pame.problems import LinearSpec, LogisticSpec, shards
from pame.problems.regression import Regression
from pame.randomness import Key, Purpose, normals
from tests.pame.problems.builders import Spec, assert_mean


@pytest.mark.parametrize(
    ("spec", "count"),
    [(LinearSpec(n=600), 6), (LinearSpec(n=20), 1), (LogisticSpec(n=1000), 500), (LinearSpec(n=50, nonzeros=0.2), 10)],
)
def test_the_truth_has_the_share_of_nonzeros_asked_for_and_at_least_one(spec: Spec, count: int) -> None:
    assert np.count_nonzero(shards.truth(spec, 9)) == count


def test_the_truth_has_uniform_magnitudes_and_fair_signs() -> None:
    model = shards.truth(LogisticSpec(n=40_000), 3)
    values = model[model != 0.0]
    magnitudes = np.abs(values)
    assert 0.5 <= magnitudes.min() < 0.51
    assert 1.99 < magnitudes.max() <= 2.0
    assert_mean(magnitudes, 1.25)
    assert_mean((magnitudes - 1.25) ** 2, 1.5**2 / 12)
    assert_mean(np.sign(values), 0.0)
    assert_mean(np.sign(values) * (magnitudes - 1.25), 0.0)


def test_every_coordinate_of_the_truth_is_equally_often_nonzero() -> None:
    spec, seeds = LinearSpec(n=20, nonzeros=0.25), 1500
    counts = sum((shards.truth(spec, seed) != 0.0).astype(int) for seed in range(seeds))
    assert np.all(np.abs(counts / seeds - 0.25) < 5 * sqrt(0.25 * 0.75 / seeds))


def test_features_are_standard_normal_and_differ_between_nodes() -> None:
    problem = LinearSpec(n=50, samples=400).build(2, 7)
    first, second = (problem.shards.of(node).features.ravel() for node in (0, 1))
    for features in (first, second, problem.shards.test().features[:400].ravel()):
        assert_mean(features, 0.0)
        assert_mean(features**2, 1.0)
        assert_mean(features**4, 3.0)
    assert_mean(first * second, 0.0)


def test_linear_labels_are_the_scores_plus_noise_of_the_spread_asked_for() -> None:
    problem = LinearSpec(n=30, samples=20_000, noise=0.5).build(1, 7)
    shard = problem.shards.of(0)
    noise = shard.labels - shard.features @ problem.shards.truth
    assert_mean(noise, 0.0)
    assert_mean(noise**2, 0.25)
    assert_mean(noise * shard.features[:, 3], 0.0)


def test_logistic_labels_are_ones_as_often_as_the_sigmoid_says_at_every_score() -> None:
    problem = LogisticSpec(n=4, samples=40_000).build(1, 2)
    shard = problem.shards.of(0)
    scores = shard.features @ problem.shards.truth
    probabilities = 1.0 / (1.0 + np.exp(-scores))
    assert set(shard.labels.tolist()) == {0.0, 1.0}
    for low, high in ((-9.0, -2.0), (-2.0, -0.5), (-0.5, 0.5), (0.5, 2.0), (2.0, 9.0)):
        some = (scores >= low) & (scores < high)
        spread = sqrt(float(np.sum(probabilities[some] * (1 - probabilities[some]))))
        assert some.sum() > 500
        assert abs(float(np.sum(shard.labels[some] - probabilities[some]))) < 5 * spread


def test_soft_labels_are_the_probabilities_of_the_same_features() -> None:
    hard, soft = (LogisticSpec(n=6, samples=100, soft=soft).build(1, 4).shards for soft in (False, True))
    assert np.array_equal(hard.of(0).features, soft.of(0).features)
    np.testing.assert_allclose(soft.of(0).labels, 1 / (1 + np.exp(-(soft.of(0).features @ soft.truth))), rtol=1e-12)


def test_without_shift_or_skew_the_features_are_the_raw_draws() -> None:
    raw = normals(Key(11, Purpose.FEATURES, 3), 5 * 4).reshape(5, 4)
    assert np.array_equal(LogisticSpec(n=4, samples=5).build(9, 11).shards.of(3).features, raw)


def test_a_feature_shift_moves_each_nodes_mean_by_that_much_in_its_own_direction() -> None:
    problem = LinearSpec(n=40, samples=5000, feature_shift=3.0).build(3, 6)
    means = [np.mean(problem.shards.of(node).features, axis=0) for node in range(3)]
    for node, mean in enumerate(means):
        # |mean|^2 = 9 + 6 <u, e> + |e|^2 with e ~ N(0, I/5000): the second term dominates the spread
        assert abs(float(mean @ mean) - 9.0 - 40 / 5000) < 5 * 6 / sqrt(5000) + 0.01
        assert_mean(((problem.shards.of(node).features - mean) ** 2).ravel(), 4999 / 5000)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert abs(float(means[one] @ means[other])) / 9 < 0.8  # |cos| of random directions in R^40: beyond 5 sigma
    test = problem.shards.test().features
    assert_mean(test @ means[0] / 3.0, 0.0)


def test_labels_follow_the_shifted_features() -> None:
    problem = LinearSpec(n=6, samples=50, noise=0.0, feature_shift=4.0).build(1, 2)
    shard = problem.shards.of(0)
    np.testing.assert_allclose(shard.labels, shard.features @ problem.shards.truth, rtol=1e-13)


def test_the_test_set_is_no_nodes_shard() -> None:
    problem = LinearSpec(n=6, samples=50, test_samples=50).build(20, 2)
    for node in range(20):
        assert not np.array_equal(problem.shards.of(node).features, problem.shards.test().features)


def test_the_truth_predicts_the_test_set_up_to_the_noise() -> None:
    problem = LinearSpec(n=30, samples=5).build(1, 1)
    found = problem.metrics(problem.shards.truth)
    assert found["model_error"] == 0.0
    assert abs(found["test_mse"] - 0.25) < 5 * 0.25 * sqrt(2 / 10_000)  # 5 sigma of a chi-square mean


@pytest.mark.parametrize(
    "spec", [LinearSpec(n=8, samples=6, feature_shift=1.0), LogisticSpec(n=8, label_skew=0.5, truth_shift=1.0)]
)
def test_a_shard_depends_on_seed_and_node_and_never_on_the_number_of_nodes(spec: Spec) -> None:
    few, many, other = spec.build(2, 5), spec.build(50, 5), spec.build(2, 6)
    assert np.array_equal(few.shards.of(1).features, many.shards.of(1).features)
    assert np.array_equal(few.shards.of(1).labels, many.shards.of(1).labels)
    assert not np.array_equal(few.shards.of(1).features, other.shards.of(1).features)


def test_a_node_generates_its_own_shard_only_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def recording(key: Key, count: int) -> Vector:
        drawn.append(key.node)
        return normals(key, count)

    monkeypatch.setattr(shards, "normals", recording)
    problem: Regression = LogisticSpec(n=4, samples=5).build(8, 1)
    local = problem.local(3)
    assert drawn == []
    local.gradient(np.zeros(4), 0)
    local.value(np.zeros(4))
    problem.local(3).smoothness()
    assert drawn == [3]
