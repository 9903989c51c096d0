"""The lock-step driver against the algorithms written out node by node, coordinate by coordinate."""

from dataclasses import replace
from math import ceil, exp, log
from typing import get_args

import numpy as np
import pytest

from pame.algorithms import PenaltyStep
from pame.byte_account import Fate
from pame.exchange import ValueType
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from pame.rules import Messages, Values
from pame.sampling import batch, candidates, message_lost, support
from pame.stopping import PaperRule, StopRules
from tests.pame.simulator.harness import DPSGD, LINEAR, PAME, Vector, run, same_bits, world


def gradient(setting: ResolvedRun, node: int, k: int, model: Vector) -> Vector:
    """Of 1/(2m) ||A w - b||^2 on the samples of the iteration."""
    assert isinstance(setting.problem, Regression)
    spec, shard = setting.problem.shards.spec, setting.problem.shards.of(node)
    a, b = shard.features, shard.labels
    if spec.batch is not None:
        rows = batch(setting.seed, node, k, spec.samples, spec.batch)
        a, b = a[rows], b[rows]
    result: Vector = ((a @ model - b) @ a) / len(b)
    return result


def pame_by_hand(setting: ResolvedRun, nu: float, s: int, iterations: int) -> dict[tuple[int, int], Vector]:
    """Algorithms 1 and 2 with the penalty step, sigma0 = 2 and gamma = 1.01: w^k by (node, k)."""
    neighbours = [setting.topology.neighbours(i) for i in range(setting.topology.nodes)]
    n = setting.problem.n
    w = {(i, 0): np.zeros(n) for i in range(len(neighbours))}
    for k in range(iterations):
        for i, around in enumerate(neighbours):
            t = min(max(1, ceil(nu * len(around) - 1e-9)), len(around))
            v = w[i, k].copy()
            if k % setting.periods[i] == 0:
                chosen = candidates(setting.seed, i, k, around, t)
                heard = [j for j in chosen if not message_lost(setting.seed, j, i, k, setting.messages.loss)]
                supports = {j: set(support(setting.seed, j, k, n, s).tolist()) for j in heard}
                for coordinate in range(n):
                    values = [revealed(setting, w[j, k][coordinate]) for j in heard if coordinate in supports[j]]
                    if values:
                        total = 0.0
                        for value in values:
                            total += value
                        v[coordinate] = total / len(values)
            step = exp(-k * log(1.01)) / (2.0 * t)
            w[i, k + 1] = v - step * gradient(setting, i, k, v)
    return w


def revealed(setting: ResolvedRun, value: float) -> float:
    return float(np.float32(value)) if setting.messages.value_type is ValueType.FLOAT32 else float(value)


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("values", get_args(Values))
@pytest.mark.parametrize("size", [None, 5])
def test_pame_equals_the_algorithm_written_out_bit_for_bit(loss: float, values: Values, size: int | None) -> None:
    spec = replace(PAME, participation=0.6, support=7, step=PenaltyStep(sigma0=2.0, gamma=1.01))
    setting = world(algorithm=spec, problem=replace(LINEAR, batch=size), iterations=15)
    setting = replace(setting, messages=Messages(loss=loss, values=values))
    expected = pame_by_hand(setting, nu=0.6, s=7, iterations=15)
    found = run("lock-step", setting)
    assert found.log.models.keys() == expected.keys()
    assert all(same_bits(found.log.models[key], expected[key]) for key in expected)
    assert all(same_bits(found.outcome.models[i], expected[i, 15]) for i in range(8))


def test_dpsgd_equals_the_algorithm_written_out_bit_for_bit() -> None:
    """Metropolis weights, every neighbour at every round, the gradient at the node's own model."""
    setting = world(algorithm=DPSGD, iterations=12)
    neighbours = [setting.topology.neighbours(i) for i in range(8)]
    x = [np.zeros(24) for _ in range(8)]
    for k in range(12):
        following = []
        for i, around in enumerate(neighbours):
            mixed = x[i]
            if k % setting.periods[i] == 0:
                weights = {j: 1.0 / (1.0 + max(len(around), len(neighbours[j]))) for j in around}
                weights[i] = 1.0 - sum(weights.values())
                mixed = np.zeros(24)
                for j in sorted(weights):
                    mixed += weights[j] * x[j]
            following.append(mixed - 0.05 * gradient(setting, i, k, x[i]))
        x = following
    found = run("lock-step", setting)
    assert all(same_bits(found.outcome.models[i], x[i]) for i in range(8))


def test_records_tell_what_each_node_did_at_each_iteration() -> None:
    found = run("lock-step", world(iterations=6))
    assert [(record.node, record.iteration) for record in found.records] == [(i, k) for k in range(6) for i in range(8)]
    for record in found.records:
        heard = found.log.absorbed.get((record.node, record.iteration))
        sends = [key for key, senders in found.log.absorbed.items() if (record.node, record.iteration) in senders]
        assert (record.coverage is None) == (heard is None)
        assert record.received == record.wanted == len(heard or [])
        assert record.messages == len(sends)
        assert (record.bytes > 0) == bool(sends)
        assert (record.seconds, record.waited_s, record.starved, record.late) == (None, None, 0, 0)


def test_the_mean_coverage_of_a_round_is_messages_times_the_share_revealed() -> None:
    found = run("lock-step", world(iterations=6))
    for record in found.records:
        if record.coverage is not None:
            assert record.coverage == record.received * 6 / 24


def test_a_target_ends_the_run_with_the_models_of_that_iteration() -> None:
    setting = world(iterations=40)
    whole = run("lock-step", setting)
    curve = whole.curve("iteration")
    target = curve[20].objective
    assert curve[15].objective > target
    found = run("lock-step", replace(setting, stop=StopRules(40, target=target)))
    assert found.outcome.iterations == 20
    assert all(same_bits(found.outcome.models[i], whole.log.models[i, 20]) for i in range(8))
    assert max(k for _, k in found.log.models) == 20


def test_the_papers_rule_ends_the_run_with_the_models_of_that_iteration() -> None:
    setting = replace(world(iterations=60), evaluate_every=1000)
    whole = run("lock-step", replace(setting, evaluate_every=4))
    f = {k: point.objective for k, point in whole.curve("iteration").items()}
    tolerance = 0.1
    expected = next(k for k in range(8, 61, 4) if float(np.std([f[k - 8], f[k - 4], f[k]])) < tolerance)
    assert 8 < expected < 60
    found = run("lock-step", replace(setting, stop=StopRules(60, paper=PaperRule(tolerance, every=4))))
    assert found.outcome.iterations == expected
    assert "standard deviation" in found.outcome.reason
    assert all(same_bits(found.outcome.models[i], whole.log.models[i, expected]) for i in range(8))


@pytest.mark.parametrize("driver", ["lock-step", "vectorised"])
def test_a_run_is_exact_only_without_losses(driver: str) -> None:
    setting = world(algorithm=replace(PAME, participation=1.0))
    clean = run(driver, setting, spied=False)
    lossy = run(driver, replace(setting, messages=Messages(loss=0.05)), spied=False)
    assert clean.outcome.exact
    assert lossy.account.messages(Fate.LOST) > 0
    assert lossy.account.starved == 0
    assert not lossy.outcome.exact
