"""All nodes at once must be the same as the nodes one by one, and must not keep the data twice."""

import numpy as np
import pytest

from pame.problems import LinearSpec, LogisticSpec, regression
from tests.pame.problems.builders import Spec

SPECS: list[Spec] = [
    LinearSpec(n=30, samples=17),
    LinearSpec(n=30, samples=17, batch=4, feature_shift=1.0),
    LogisticSpec(n=13, samples=40),
    LogisticSpec(n=13, samples=40, batch=7, label_skew=0.4, feature_shift=0.5, truth_shift=1.0),
    LinearSpec(n=6, samples=5, batch=5),
    LogisticSpec(n=6, samples=9, batch=8),
]


@pytest.mark.parametrize("cached", [1, 2000, 1 << 17])
@pytest.mark.parametrize("spec", SPECS)
def test_the_stacked_gradient_is_that_of_each_node(spec: Spec, cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression, "_CACHED", cached)  # one node at a time, a few, all
    models = np.random.default_rng(1).normal(size=(9, spec.n))
    alone, stacked = spec.build(9, 3), spec.build(9, 3).stacked()
    for iteration in (0, 5):
        expected = np.array([alone.local(node).gradient(models[node], iteration) for node in range(9)])
        found = stacked.gradient(models, iteration)
        assert np.max(np.abs(found - expected)) <= 1e-12 * np.max(np.abs(expected))


@pytest.mark.parametrize("spec", SPECS)
def test_the_stacked_objective_is_the_mean_over_the_nodes(spec: Spec) -> None:
    model = np.random.default_rng(1).normal(size=spec.n)
    assert spec.build(9, 3).stacked().objective(model) == pytest.approx(spec.build(9, 3).objective(model), rel=1e-12)


def test_shards_are_views_into_the_stack_even_those_generated_before_it() -> None:
    problem = LinearSpec(n=5, samples=6).build(4, 2)
    early = problem.local(2)
    before = problem.shards.of(2).features.copy()
    gradient = early.gradient(np.ones(5), 0)
    problem.stacked()
    stack = problem.shards.stack()
    for node in range(4):
        shard = problem.shards.of(node)
        assert np.shares_memory(shard.features, stack.features)
        assert np.shares_memory(shard.labels, stack.labels)
        assert shard.features.flags.c_contiguous
    assert np.array_equal(problem.shards.of(2).features, before)
    assert np.array_equal(early.gradient(np.ones(5), 0), gradient)


def test_a_gradient_has_the_same_bits_before_and_after_the_shard_moves_into_a_stack() -> None:
    spec = LogisticSpec(n=101, samples=33)
    alone, together = spec.build(5, 7), spec.build(5, 7)
    together.stacked()
    model = np.random.default_rng(2).normal(size=101)
    for node in range(5):
        assert np.array_equal(alone.local(node).gradient(model, 0), together.local(node).gradient(model, 0))
