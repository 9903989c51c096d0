"""Virtual time changes when things happen, never what is computed: bit for bit the models of the lock-step driver."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator_world import DPSGD, LINEAR, LOGISTIC, PAME, Run, run, same_bits, world

from pame.algorithms import AlgorithmSpec
from pame.links import LinkSpec
from pame.problems import ProblemSpec
from pame.simulator import Compute, Fate, Setting

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
    for name, column in vars(found.ledger.links()).items():
        assert np.array_equal(column, getattr(reference.ledger.links(), name)), name
    assert asdict(found.ledger.kinds) == asdict(reference.ledger.kinds)
    timeless = {(r.node, r.iteration): r._replace(seconds=None, waited_s=None) for r in found.records}
    assert timeless == {(r.node, r.iteration): r for r in reference.records}
    curve, expected = found.curve("iteration"), reference.curve("iteration")
    assert curve.keys() == expected.keys()
    for k, point in curve.items():
        assert (point.objective, point.consensus, point.metrics) == (
            expected[k].objective,
            expected[k].consensus,
            expected[k].metrics,
        )


def same_where_both_are(found: Run, reference: Run) -> set[tuple[int, int]]:
    """A run that stops at its median node has not all models; those it has must be the same. Returns which."""
    common = found.log.models.keys() & reference.log.models.keys()
    assert all(same_bits(found.log.models[key], reference.log.models[key]) for key in common)
    curve, expected = found.curve("iteration"), reference.curve("iteration")
    assert {k: point.objective for k, point in curve.items()} == {k: expected[k].objective for k in curve}
    return common


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
    common = same_where_both_are(found, run("lock-step", setting))
    assert len(common) == len(found.log.models)
    assert set(found.curve("iteration")) >= {0, 5, 10}
    assert found.outcome.exact


def lossy(seed: int, algorithm: AlgorithmSpec, loss: float) -> Setting:
    setting = world(seed=seed, algorithm=algorithm, iterations=10)
    return replace(setting, message_loss=loss, exclude_after=10**6, link=LinkSpec(0.01, 0.005), patience_s=30.0)


def test_lost_messages_are_the_same_ones_and_change_nothing_else_while_none_is_late() -> None:
    """A node that waits out its patience sends its next messages that much later, so others may run out of theirs:
    only where that did not happen must the run be the lock-step one."""
    equal = 0
    for seed in range(16):
        setting = lossy(seed, PAME, 0.03)
        found, reference = run("virtual-time", setting), run("lock-step", setting)
        if found.ledger.messages(Fate.LATE) == 0:
            same_where_both_are(found, reference)
            equal += found.ledger.messages(Fate.LOST) > 0
    assert equal >= 3


def test_two_nodes_that_lose_single_messages_stay_equal_to_lock_step() -> None:
    """With two nodes a single loss is noticed at once: the sender's next message overtakes the wait."""
    setting = world(pairs=[(0, 1)], periods=(1, 1), iterations=40, seed=3)
    setting = replace(setting, message_loss=0.05, exclude_after=10**6, link=LinkSpec(0.01), patience_s=5.0)
    found, reference = run("virtual-time", setting), run("lock-step", setting)
    assert found.ledger.messages(Fate.LOST) > 0
    assert found.outcome.seconds is not None
    assert found.outcome.seconds < 5.0  # nobody waited out a patience
    assert len(same_where_both_are(found, reference)) > 60
