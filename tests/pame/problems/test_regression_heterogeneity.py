"""What makes nodes differ. Seeds are fixed; "5 sigma" means a false alarm in 2 of a million other seeds."""

from collections.abc import Iterator
from dataclasses import replace
from math import erf, exp, log, pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from pame.errors import ParameterError
from pame.exchange import Vector
from pame.problems import LinearSpec, LogisticSpec
from pame.problems.regression import Regression
from pame.randomness import Key, Purpose, normals, uniforms
from tests.pame.problems.builders import Spec, assert_mean

BOTH: list[Spec] = [LinearSpec(n=5, samples=60), LogisticSpec(n=5, samples=60)]


def hoeffding(count: int, false_alarm: float = 1e-6) -> float:
    """How far a share of `count` independent yes-or-no draws may lie from its mean."""
    return sqrt(log(2 / false_alarm) / (2 * count))


def positive(problem: Regression, node: int) -> NDArray[np.bool_]:
    return problem.shards.of(node).labels > (0.5 if problem.metric == "test_accuracy" else 0.0)


def prefers_positive(seed: int, node: int) -> bool:
    return bool(uniforms(Key(seed, Purpose.HETEROGENEITY, node, peer=1), 1)[0] < 0.5)


def direction(seed: int, node: int, n: int, peer: int = 0) -> Vector:
    vector = normals(Key(seed, Purpose.HETEROGENEITY, node, peer=peer), n)
    return vector / np.linalg.norm(vector)


def local_optimum(problem: Regression, node: int) -> Vector:
    """By Newton's method, written out."""
    shard, linear = problem.shards.of(node), problem.metric == "test_mse"
    regularisation = 0.0 if linear else 1e-6
    model = np.zeros(problem.n)
    for _ in range(1 if linear else 30):
        scores = shard.features @ model
        predicted = scores if linear else 1 / (1 + np.exp(-scores))
        curvature = np.ones_like(scores) if linear else predicted * (1 - predicted)
        gradient = shard.features.T @ (predicted - shard.labels) / len(scores) + regularisation * model
        hessian = (shard.features.T * curvature) @ shard.features / len(scores) + regularisation * np.eye(problem.n)
        model = model - np.linalg.solve(hessian, gradient)
    return model


def test_at_zero_every_kind_of_heterogeneity_leaves_the_data_bit_for_bit_as_it_is_without() -> None:
    shards = (
        LinearSpec(n=3, samples=2, noise=0.5, feature_shift=0.0, label_skew=0.0, truth_shift=0.0).build(4, 11).shards
    )
    raw = normals(Key(11, Purpose.FEATURES, 3), 6).reshape(2, 3)
    np.testing.assert_allclose(raw[0], [-1.04324081, -0.23332056, 0.66300862], atol=1e-8)  # recorded once
    assert np.array_equal(shards.of(3).features, raw)
    assert np.array_equal(shards.of(3).labels, raw @ shards.truth + 0.5 * normals(Key(11, Purpose.LABELS, 3), 2))
    np.testing.assert_allclose(shards.of(3).labels, [1.10054313, -4.19849198], atol=1e-8)


def test_a_feature_shift_alone_keeps_the_data_it_has_always_given() -> None:
    shard = LinearSpec(n=3, samples=2, feature_shift=2.0).build(4, 11).shards.of(3)
    recorded = [[-1.65778636, 1.47424349, 1.50357912], [1.93307637, 2.81173235, 0.86990559]]
    np.testing.assert_allclose(shard.features, recorded, atol=1e-8)
    np.testing.assert_allclose(shard.labels, [2.18001673, -3.11901838], atol=1e-8)


@pytest.mark.parametrize("spec", BOTH)
@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_label_skew_gives_each_node_its_preferred_label_as_often_as_promised(spec: Spec, shift: float) -> None:
    nodes, samples = 20, 4000
    plain = replace(spec, samples=samples, feature_shift=shift).build(nodes, 6)
    skewed = replace(spec, samples=samples, feature_shift=shift, label_skew=0.6).build(nodes, 6)
    likes = [prefers_positive(6, node) for node in range(nodes)]
    assert 0 < sum(likes) < nodes  # fails for one seed in 500 000: 2 * 2^-20
    for node, like in enumerate(likes):
        before = float(np.mean(positive(plain, node) == like))
        after = float(np.mean(positive(skewed, node) == like))
        # 0.6 must, the others by chance; `before` estimates that chance
        assert abs(after - (0.6 + 0.4 * before)) < 1.4 * hoeffding(samples, 1e-6 / nodes)


@pytest.mark.parametrize("spec", [*BOTH, LogisticSpec(n=5, samples=60, soft=True)])
def test_full_label_skew_leaves_each_node_its_preferred_label_only(spec: Spec) -> None:
    problem = replace(spec, label_skew=1.0, feature_shift=0.5).build(6, 6)
    for node in range(6):
        assert np.all(positive(problem, node) == prefers_positive(6, node))


@pytest.mark.parametrize("spec", BOTH)
def test_the_preferred_label_has_nothing_to_do_with_the_direction_of_the_shift(spec: Spec) -> None:
    nodes = 400
    problem = replace(spec, samples=1, label_skew=1.0, feature_shift=0.01).build(nodes, 6)
    sides = np.array([direction(6, node, 5)[0] < 0 for node in range(nodes)])
    likes = np.array([bool(positive(problem, node)[0]) for node in range(nodes)])
    assert abs(float(np.mean(sides == likes)) - 0.5) < hoeffding(nodes)


def candidates(spec: Spec, truth: Vector, chunk: int) -> Iterator[tuple[Vector, float]]:
    """One chunk of what node 0 may draw at seed 6 and a feature shift of 1."""
    features = normals(Key(6, Purpose.FEATURES, 0, chunk), 60 * 5).reshape(60, 5) + direction(6, 0, 5)
    labelling = Key(6, Purpose.LABELS, 0, chunk)
    noise, coin = normals(labelling, 60), uniforms(labelling, 60)
    for row in range(60):
        score = float(features[row] @ truth)
        if isinstance(spec, LinearSpec):
            yield features[row], score + spec.noise * float(noise[row])
        else:
            yield features[row], float(coin[row] < 1 / (1 + exp(-score)))


@pytest.mark.parametrize("spec", BOTH)
def test_a_sample_is_exchanged_only_if_it_must_be_and_for_the_nodes_next_candidate_that_fits(spec: Spec) -> None:
    plain = replace(spec, feature_shift=1.0).build(1, 6)
    skewed = replace(spec, feature_shift=1.0, label_skew=0.7).build(1, 6)
    before, after, like = plain.shards.of(0), skewed.shards.of(0), prefers_positive(6, 0)
    must = uniforms(Key(6, Purpose.HETEROGENEITY, 0, peer=1), 61)[1:] < 0.7
    fitting = (
        candidate
        for chunk in (1, 2, 3, 4)
        for candidate in candidates(spec, plain.shards.truth, chunk)
        if (candidate[1] > (0.0 if isinstance(spec, LinearSpec) else 0.5)) == like
    )
    exchanged = 0
    for row in range(60):
        if must[row] and bool(positive(plain, 0)[row]) != like:
            features, label = next(fitting)
            np.testing.assert_allclose(after.features[row], features, rtol=1e-12)
            assert after.labels[row] == pytest.approx(label, rel=1e-12)
            exchanged += 1
        else:
            assert np.array_equal(after.features[row], before.features[row])
            assert after.labels[row] == before.labels[row]
    assert 5 < exchanged < 50


def test_a_node_that_rarely_sees_its_label_still_gets_different_samples() -> None:
    """Several chunks of candidates are needed, and none may be used twice."""
    for seed in range(40):
        spec = LinearSpec(n=1, samples=50, nonzeros=1.0, feature_shift=1.8, label_skew=1.0)
        problem = spec.build(1, seed)
        share = float(np.mean(positive(replace(spec, label_skew=0.0, samples=1000).build(1, seed), 0)))
        rare = share if prefers_positive(seed, 0) else 1 - share
        if 0.02 < rare < 0.1:
            assert np.all(positive(problem, 0) == prefers_positive(seed, 0))
            assert np.unique(problem.shards.of(0).features).size == 50
            return
    pytest.fail("no seed gives such a node")


def least_squares_under_skew(truth: Vector, noise: float, mean: Vector, skew: float, sign: float) -> Vector:
    """The minimiser of E(b - <a,w>)^2 / 2 for a ~ N(mean, I), b = <a, truth> + noise e, and a share `skew` of the
    samples conditioned on sign * b > 0.

    With s^2 = |truth|^2 + noise^2, centre c = <mean, truth> and d = b - c:  a = mean + truth d / s^2 + r, where r is
    independent of b with covariance I - truth truth^T / s^2. Given sign * b > 0, with t = sign c / s and
    q = phi(t) / Phi(t):  E d = sign s q,  E d^2 = s^2 (1 - t q).
    """
    variance, centre = float(truth @ truth) + noise**2, float(mean @ truth)
    t = sign * centre / sqrt(variance)
    q = exp(-(t**2) / 2) / sqrt(2 * pi) / (0.5 * (1 + erf(t / sqrt(2))))
    first = skew * sign * sqrt(variance) * q
    second = skew * variance * (1 - t * q) + (1 - skew) * variance
    gram = (
        np.outer(mean, mean)
        + (np.outer(mean, truth) + np.outer(truth, mean)) * first / variance
        + np.outer(truth, truth) * (second / variance - 1) / variance
        + np.eye(truth.size)
    )
    products = mean * (centre + first) + truth / variance * (second + centre * first)
    return np.asarray(np.linalg.solve(gram, products), dtype=np.float64)


@pytest.mark.parametrize("skew", [0.5, 1.0])
@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_the_local_optimum_of_a_skewed_linear_node_is_the_one_worked_out_on_paper(skew: float, shift: float) -> None:
    spec, samples = LinearSpec(n=4, nonzeros=0.5, noise=1.0, feature_shift=shift, label_skew=skew), 40_000
    problem = replace(spec, samples=samples).build(3, 8)
    for node in range(3):
        sign = 1.0 if prefers_positive(8, node) else -1.0
        truth = problem.shards.truth
        expected = least_squares_under_skew(truth, 1.0, shift * direction(8, node, 4), skew, sign)
        # each coordinate errs by at most noise / sqrt(samples * smallest eigenvalue), the latter above 0.3 here
        assert np.max(np.abs(local_optimum(problem, node) - expected)) < 5 / sqrt(0.3 * samples)
        if not shift:
            np.testing.assert_allclose(expected, truth)  # on paper, too: skew alone changes nothing


def test_skewed_logistic_labels_have_their_odds_raised_by_the_same_factor_at_every_score() -> None:
    skew, shift = 0.6, 1.0
    problem = LogisticSpec(n=4, samples=40_000, feature_shift=shift, label_skew=skew).build(2, 2)
    truth = problem.shards.truth
    grid = np.linspace(-12, 12, 20_001)
    density = np.exp(-(grid**2) / 2) / sqrt(2 * pi) * (grid[1] - grid[0])
    for node in range(2):
        shard, like = problem.shards.of(node), prefers_positive(2, node)
        centre, spread = shift * float(direction(2, node, 4) @ truth), float(np.linalg.norm(truth))
        ones = float(np.sum(density / (1 + np.exp(-(centre + spread * grid)))))
        factor = 1 + skew / (1 - skew) / (ones if like else 1 - ones)
        scores = shard.features @ truth + (log(factor) if like else -log(factor))
        probabilities = 1 / (1 + np.exp(-scores))
        for low, high in ((-9.0, -1.0), (-1.0, 1.0), (1.0, 9.0)):
            some = (scores >= low) & (scores < high)
            assert some.sum() > 500
            spread_of_sum = sqrt(float(np.sum(probabilities[some] * (1 - probabilities[some]))))
            assert abs(float(np.sum(shard.labels[some] - probabilities[some]))) < 5 * spread_of_sum


@pytest.mark.parametrize(("spec", "by"), [(BOTH[0], 0.05), (BOTH[1], 0.3)])
def test_label_skew_moves_local_optima_where_features_are_shifted_and_only_there(spec: Spec, by: float) -> None:
    def moved(shift: float) -> list[float]:
        shifted = replace(spec, samples=10_000, feature_shift=shift)
        plain, skewed = shifted.build(4, 3), replace(shifted, label_skew=0.8).build(4, 3)
        return [float(np.linalg.norm(local_optimum(plain, i) - local_optimum(skewed, i))) for i in range(4)]

    assert max(moved(0.0)) < by / 2 < by < max(moved(2.0))


def test_a_preferred_label_that_hardly_ever_comes_is_refused_with_what_to_do() -> None:
    problem = LinearSpec(n=1, samples=10, nonzeros=1.0, noise=0.0, feature_shift=9.0, label_skew=0.5).build(40, 1)
    refused: list[str] = []
    for node in range(40):
        always = bool(direction(1, node, 1)[0] * problem.shards.truth[0] > 0)
        if always == prefers_positive(1, node):
            assert np.all(positive(problem, node) == always)
        else:
            with pytest.raises(ParameterError, match=f"^Node {node} hardly ever sees the") as error:
                problem.shards.of(node)
            refused.append(str(error.value))
    assert 5 < len(refused) < 35  # 5 sigma about 20
    assert all("640 candidates" in text and "choose a smaller feature_shift or label_skew." in text for text in refused)
    assert {"positive" in text for text in refused} == {True, False}


def test_local_optima_lie_the_truth_shift_away_from_the_truth_each_in_its_own_direction() -> None:
    linear = LinearSpec(n=6, samples=40, noise=0.0, truth_shift=0.7).build(4, 5)
    soft = LogisticSpec(n=6, samples=4000, soft=True, truth_shift=0.7).build(4, 5)
    for problem, tolerance in ((linear, 1e-9), (soft, 1e-3)):  # 1e-6 ||w||^2 / 2 in `local_optimum` moves it a little
        found = [local_optimum(problem, node) - problem.shards.truth for node in range(4)]
        for node, difference in enumerate(found):
            assert float(np.linalg.norm(difference)) == pytest.approx(0.7, abs=tolerance)
            np.testing.assert_allclose(difference, 0.7 * direction(5, node, 6, peer=2), atol=tolerance)
        for one, other in ((0, 1), (0, 2), (1, 2), (2, 3)):
            assert float(np.linalg.norm(found[one] - found[other])) > 0.1


@pytest.mark.parametrize("spec", BOTH)
def test_a_truth_shift_changes_labels_and_no_feature_of_the_unskewed_data(spec: Spec) -> None:
    plain, shifted = spec.build(1, 5).shards.of(0), replace(spec, truth_shift=3.0).build(1, 5).shards.of(0)
    assert np.array_equal(plain.features, shifted.features)
    assert not np.array_equal(plain.labels, shifted.labels)


def test_hard_labels_follow_the_nodes_own_truth() -> None:
    problem = LogisticSpec(n=4, samples=20_000, truth_shift=2.0).build(1, 2)
    shard = problem.shards.of(0)
    own = problem.shards.truth + 2.0 * direction(2, 0, 4, peer=2)
    surprise = shard.labels - 1 / (1 + np.exp(-(shard.features @ own)))
    assert_mean(surprise, 0.0)
    for coordinate in range(4):
        assert_mean(surprise * shard.features[:, coordinate], 0.0)


@pytest.mark.parametrize("kind", [LinearSpec, LogisticSpec])
def test_test_set_and_model_error_are_the_same_whatever_makes_the_nodes_differ(
    kind: type[LinearSpec] | type[LogisticSpec],
) -> None:
    plain = kind(n=6, samples=5, test_samples=40)
    model = np.ones(6)
    expected = plain.build(2, 2)
    for spec in (
        replace(plain, feature_shift=2.0),
        replace(plain, label_skew=0.9),
        replace(plain, truth_shift=3.0),
        replace(plain, feature_shift=0.5, label_skew=0.9, truth_shift=3.0),
    ):
        problem = spec.build(2, 2)
        assert not np.array_equal(problem.shards.of(0).labels, expected.shards.of(0).labels)
        assert np.array_equal(problem.shards.test().features, expected.shards.test().features)
        assert np.array_equal(problem.shards.test().labels, expected.shards.test().labels)
        assert problem.metrics(model) == expected.metrics(model)
