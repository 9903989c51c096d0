"""The nodes' own models beside their mean: what each is worth on everybody's data."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pame.evaluate import OWN_AT_MOST, judge_own
from pame.problems import LinearSpec, LogisticSpec, ManyModels
from pame.problems.base import Matrix
from tests.pame.simulator.harness import run, world

PROBLEMS: list[LinearSpec | LogisticSpec] = [
    LinearSpec(n=24, samples=12, test_samples=20),
    LogisticSpec(n=24, samples=12, regularisation=0.1, test_samples=20, soft=True),
]


def models(nodes: int, n: int) -> Matrix:
    return np.random.default_rng(5).standard_normal((nodes, n))


@pytest.mark.parametrize("spec", PROBLEMS)
def test_own_models_are_worth_what_the_problem_says_of_each_of_them(spec: LinearSpec | LogisticSpec) -> None:
    problem, some = spec.build(8, 3), models(8, 24)
    values = [problem.objective(model) for model in some]
    metrics = [problem.metrics(model) for model in some]
    own = judge_own(problem, some)
    assert isinstance(problem, ManyModels)
    assert own.objective == pytest.approx(np.mean(values), rel=1e-12)
    assert own.worst == pytest.approx(max(values), rel=1e-12)
    for name in metrics[0]:
        each = [found[name] for found in metrics]
        assert own.metrics[name] == pytest.approx(np.mean(each), rel=1e-12)
        assert (own.lowest[name], own.highest[name]) == pytest.approx((min(each), max(each)), rel=1e-12)


def test_a_problem_that_cannot_judge_many_at_once_is_asked_one_by_one() -> None:
    problem, some = PROBLEMS[1].build(8, 3), models(8, 24)
    slow: Any = SimpleNamespace(objective=problem.objective, metrics=problem.metrics)
    assert not isinstance(slow, ManyModels)
    assert judge_own(slow, some).worst == pytest.approx(judge_own(problem, some).worst, rel=1e-12)


def test_of_very_many_nodes_some_evenly_spread_ones_are_judged() -> None:
    problem, some = PROBLEMS[0].build(8, 3), models(2 * OWN_AT_MOST, 24)
    every_second = judge_own(problem, some[::2])
    assert judge_own(problem, some) == every_second


def test_one_model_for_all_is_worth_as_much_as_their_mean() -> None:
    problem, one = PROBLEMS[1].build(8, 3), models(1, 24)
    own = judge_own(problem, np.repeat(one, 8, axis=0))
    assert own.objective == pytest.approx(problem.objective(one[0]), rel=1e-12)
    assert own.worst == pytest.approx(own.objective, rel=1e-12)


def test_the_lock_step_and_the_virtual_time_driver_tell_the_same_bits_of_own_models() -> None:
    setting = world(problem=PROBLEMS[1])
    lock_step, timed = run("lock-step", setting).curve("iteration"), run("virtual-time", setting).curve("iteration")
    assert [lock_step[k].own for k in sorted(lock_step)] == [timed[k].own for k in sorted(timed)]
    last = lock_step[20]
    assert last.own is not None
    assert last.own.objective > last.objective  # f is convex


def test_own_models_are_left_out_where_nobody_wants_them() -> None:
    assert run("lock-step", replace(world(), own_models=False)).curve("iteration")[20].own is None
