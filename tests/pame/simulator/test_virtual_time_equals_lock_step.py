"""Virtual time changes when things happen, never what is computed: bit for bit the models of the lock-step driver."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.algorithms import AlgorithmSpec
from pame.links import LinkSpec
from pame.problems import ProblemSpec
from pame.rules import Compute
from tests.pame.simulator.harness import (
    DPSGD,
    LINEAR,
    LOGISTIC,
    PAME,
    Run,
    run,
    same_as_far_as_it_goes,
    same_bits,
    world,
)

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
