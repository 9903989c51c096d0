"""The vectorised driver and the one with a clock against the lock-step driver: the same bits."""

from dataclasses import asdict, replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.algorithms import AlgorithmSpec, PenaltyStep
from pame.byte_account import Fate
from pame.links import LinkSpec
from pame.problems import ProblemSpec
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Messages, Support, Values
from pame.stopping import PaperRule, StopRules
from tests.pame.simulator.harness import (
    DPSGD,
    LINEAR,
    LOGISTIC,
    PAME,
    UNEQUAL,
    Run,
    run,
    same_as_far_as_it_goes,
    same_bits,
    world,
)

STAR = tuple((0, i) for i in range(1, 8))
PATH = tuple((i, i + 1) for i in range(7))


def compare(setting: ResolvedRun) -> tuple[Run, Run]:
    found, reference = run("vectorised", setting, spied=False), run("lock-step", setting)
    scale = np.abs(reference.outcome.models).max()
    assert np.abs(found.outcome.models - reference.outcome.models).max() <= 1e-10 * scale
    assert (found.outcome.iterations, found.outcome.reason, found.outcome.exact, found.outcome.seconds) == (
        reference.outcome.iterations,
        reference.outcome.reason,
        reference.outcome.exact,
        None,
    )
    assert found.records == reference.records
    assert found.account.starved == reference.account.starved
    assert asdict(found.account.kinds) == asdict(reference.account.kinds)
    for name, column in vars(found.account.links()).items():
        assert np.array_equal(column, getattr(reference.account.links(), name)), name
    for fate in Fate:
        assert found.account.messages(fate) == reference.account.messages(fate)
        assert found.account.bytes(fate) == reference.account.bytes(fate)
    for point, expected in zip(found.evaluations, reference.evaluations, strict=True):
        assert (point.by, point.iteration, point.bytes) == (expected.by, expected.iteration, expected.bytes)
        assert point.objective == pytest.approx(expected.objective, rel=1e-10)
        assert point.consensus == pytest.approx(expected.consensus, rel=1e-9)
        assert (point.coverage or 0.0) == pytest.approx(expected.coverage or 0.0, rel=1e-12)
        assert point.metrics == pytest.approx(expected.metrics, rel=1e-9)
    return found, reference


@pytest.mark.parametrize("pairs", [UNEQUAL, STAR, PATH], ids=["unequal", "star", "path"])
@pytest.mark.parametrize("participation", [0.1, 0.5, 1.0])
def test_on_graphs_with_unequal_degrees(pairs: tuple[tuple[int, int], ...], participation: float) -> None:
    compare(world(pairs=pairs, algorithm=replace(PAME, participation=participation)))


@pytest.mark.parametrize("share", [0.25, 0.7, 1])
@pytest.mark.parametrize("coding", ["seed", "gaps", "bitmap", "auto"])
def test_with_every_support_coding(coding: Support, share: float) -> None:
    """A support of 1 is one coordinate (an integer is a count); its stars, if any, are all of it."""
    compare(replace(world(algorithm=replace(PAME, support=share)), messages=Messages(support=coding)))


@pytest.mark.parametrize("coding", ["all", "seed", "auto"])
def test_with_a_complete_support(coding: Support) -> None:
    compare(replace(world(algorithm=replace(PAME, support=1.0)), messages=Messages(support=coding)))


@pytest.mark.parametrize("values", get_args(Values))
@pytest.mark.parametrize("loss", [0.0, 0.4, 1.0])
def test_with_lost_messages_and_either_type_of_value(values: Values, loss: float) -> None:
    found, _ = compare(replace(world(), messages=Messages(values=values, loss=loss)))
    assert (found.account.messages(Fate.LOST) > 0) == (loss > 0)


@pytest.mark.parametrize("problem", [replace(LINEAR, batch=4), LOGISTIC, replace(LOGISTIC, batch=4)])
def test_with_mini_batches_and_logistic_regression(problem: ProblemSpec) -> None:
    compare(world(problem=problem))


def test_with_the_step_that_depends_on_participation() -> None:
    compare(world(algorithm=replace(PAME, step=PenaltyStep(sigma0=4.0))))


def test_at_iterations_without_any_round() -> None:
    compare(world(periods=(4,) * 8))


@pytest.mark.parametrize("apart", [2, 20])
def test_with_true_zeros_among_the_values(apart: int) -> None:
    """A coordinate that no sample has keeps its exact zero: stars are then some, but not all, of a message. If they are
    rare they are coded as gaps, whose size depends on where they are."""
    problem = replace(LINEAR, n=300, samples=4)
    setting = world(iterations=6, periods=(1,) * 8, problem=problem, algorithm=replace(PAME, support=0.5))
    assert isinstance(setting.problem, Regression)
    for i in range(8):
        setting.problem.shards.of(i).features[:, ::apart] = 0.0
    for coding in ("seed", "gaps", "auto"):
        found, reference = compare(replace(setting, messages=Messages(support=coding)))
        assert found.account.kinds.stars > 0
        assert not reference.outcome.models[:, ::apart].any()


def test_with_stop_rules_that_look_at_values() -> None:
    setting = world(iterations=60)
    paper = StopRules(60, paper=PaperRule(0.1, every=4))
    found, _ = compare(replace(setting, stop=paper))
    assert found.outcome.iterations < 60
    target = run("lock-step", setting).curve("iteration")[15].objective * 1.0001
    found, _ = compare(replace(setting, stop=StopRules(60, target=target)))
    assert found.outcome.iterations == 15


WORLDS = {
    "instant": (LinkSpec(), Compute()),
    "delay and jitter": (LinkSpec(0.05, 0.049), Compute()),
    "narrow": (LinkSpec(0.01, 0.0, rate_bps=2e3), Compute(step_s=0.001)),
    "uneven nodes": (LinkSpec(0.001), Compute(jitter=0.9)),
    "everything": (LinkSpec(0.02, 0.05, rate_bps=1e4), Compute(jitter=0.5)),
}


def same_computation(found: Run, reference: Run) -> None:
    """Everything but the clock: every model of every node, every message, every byte, on every link."""
    assert found.log.models.keys() == reference.log.models.keys()
    assert all(same_bits(model, reference.log.models[key]) for key, model in found.log.models.items())
    assert same_bits(found.outcome.models, reference.outcome.models)
    assert found.outcome.iterations == reference.outcome.iterations
    for name, column in vars(found.account.links()).items():
        assert np.array_equal(column, getattr(reference.account.links(), name)), name
    assert asdict(found.account.kinds) == asdict(reference.account.kinds)
    timeless = {(r.node, r.iteration): r._replace(seconds=None, waited_s=None) for r in found.records}
    assert timeless == {(r.node, r.iteration): r for r in reference.records}
    curve, expected = found.curve("iteration"), reference.curve("iteration")
    assert curve.keys() == expected.keys()
    for k, point in curve.items():
        assert (point.objective, point.consensus, point.bytes, point.metrics) == (
            expected[k].objective,
            expected[k].consensus,
            expected[k].bytes,
            expected[k].metrics,
        )


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("problem", [LINEAR, LOGISTIC], ids=lambda spec: spec.kind)
@pytest.mark.parametrize("algorithm", [PAME, DPSGD], ids=lambda spec: spec.kind)
def test_time_changes_nothing_that_is_computed(algorithm: AlgorithmSpec, problem: ProblemSpec, name: str) -> None:
    setting = world(algorithm=algorithm, problem=problem)
    link, compute = WORLDS[name]
    found = run("virtual-time", replace(setting, link=link, compute=compute))
    same_computation(found, run("lock-step", setting))
    assert found.outcome.exact


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 1000),
    delay=st.floats(0.0, 0.1),
    jitter=st.floats(0.0, 0.1),
    rate=st.floats(3e3, 1e7),
    uneven=st.floats(0.0, 0.99),
    periods=st.lists(st.integers(1, 6), min_size=8, max_size=8),
)
def test_time_changes_nothing_on_any_link(
    seed: int, delay: float, jitter: float, rate: float, uneven: float, periods: list[int]
) -> None:
    setting = world(seed=seed, periods=tuple(periods), iterations=8)
    reference = run("lock-step", setting)
    timed = replace(setting, link=LinkSpec(delay, jitter, rate), compute=Compute(jitter=uneven))
    same_computation(run("virtual-time", timed), reference)


@pytest.mark.parametrize("algorithm", [PAME, DPSGD], ids=lambda spec: spec.kind)
def test_stragglers_change_nothing_that_is_computed(algorithm: AlgorithmSpec) -> None:
    setting = world(algorithm=algorithm)
    slow = replace(setting, link=LinkSpec(0.02, 0.02), compute=Compute(stragglers=0.25, jitter=0.3))
    found = run("virtual-time", slow)
    same_as_far_as_it_goes(found, run("lock-step", setting))
    assert set(found.curve("iteration")) >= {0, 5, 10}
    assert found.outcome.exact
