"""Epidemic learning, local and oracle, against the matrices of who reached whom; by hand, and under loss."""

from typing import Literal

import numpy as np
import pytest
from driving import EDGES, Constant, Watcher, drive, graph
from matrix_form import (
    ALWAYS,
    DIFFERENT,
    ITERATIONS,
    NODES,
    SEED,
    N,
    check,
    gradients,
    problem_of,
    setting_of,
    worst,
)

from pame.algorithms import Context, EpidemicSpec, Received, Selection, Who
from pame.ledger import Fate, Ledger
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.randomness import Key, Purpose, permutation, subset
from pame.simulator import run_lock_step

Sampling = Literal["local", "oracle"]
BOTH = pytest.mark.parametrize("sampling", ["local", "oracle"])


def reached(sampling: Sampling, fan_out: int, k: int) -> Matrix:
    """1 at (i, j) if j sends to i, should both be at a round."""
    sent = np.zeros((NODES, NODES))
    if sampling == "local":
        for j in range(NODES):
            others = [i for i in range(NODES) if i != j]
            for place in subset(Key(SEED, Purpose.EPIDEMIC, j, k), NODES - 1, fan_out):
                sent[others[place], j] = 1.0
        return sent
    order = permutation(Key(SEED, Purpose.EPIDEMIC, iteration=k), NODES)
    away = [1 + far for far in subset(Key(SEED, Purpose.EPIDEMIC, iteration=k, peer=1), 2, fan_out // 2)]
    for far in [*away, 3] if fan_out % 2 else away:  # six in a circle: 1 or 2 away, or opposite
        sent[order, np.roll(order, far)] = sent[np.roll(order, far), order] = 1.0
    return sent


def slow_epidemic(problem: Regression, spec: EpidemicSpec, periods: tuple[int, ...]) -> list[Matrix]:
    models = np.zeros((NODES, N))
    history = [models]
    for k in range(ITERATIONS):
        ahead = models - spec.eta / spec.gamma**k * gradients(problem, models, k)
        at_round = np.array([float(k % period == 0) for period in periods])
        weights = reached(spec.sampling, spec.fan_out, k) * np.outer(at_round, at_round) + np.eye(NODES)
        models = weights / weights.sum(axis=1, keepdims=True) @ ahead
        history.append(models)
    return history


@BOTH
@pytest.mark.parametrize("fan_out", [1, 2, 3, 5])
@pytest.mark.parametrize("periods", [ALWAYS, (2,) * NODES, DIFFERENT], ids=["1", "2", "different"])
def test_twenty_iterations_equal_the_matrix_form(sampling: Sampling, fan_out: int, periods: tuple[int, ...]) -> None:
    spec, problem = EpidemicSpec(sampling=sampling, fan_out=fan_out, eta=0.5, gamma=1.01), problem_of(7)
    check(setting_of(spec, problem, periods), slow_epidemic(problem, spec, periods))


@BOTH
def test_messages_cross_the_edges_of_the_topology(sampling: Sampling) -> None:
    ledger = Ledger(NODES)
    run_lock_step(setting_of(EpidemicSpec(sampling=sampling, fan_out=2), problem_of()), Watcher(), ledger)
    links = ledger.links()
    used = {(min(i, j), max(i, j)) for i, j in zip(links.sender.tolist(), links.receiver.tolist(), strict=True)}
    assert len(used) == NODES * (NODES - 1) // 2
    assert used - set(EDGES)


def test_a_local_node_sends_fan_out_messages_whatever_it_receives() -> None:
    ledger = Ledger(NODES)
    run_lock_step(setting_of(EpidemicSpec(fan_out=3), problem_of()), Watcher(), ledger)
    assert ledger.messages(Fate.SENT) == 3 * NODES * ITERATIONS


@pytest.mark.parametrize("nodes", [2, 5, 6, 31, 32])
@pytest.mark.parametrize("fan_out", [1, 2, 3, 4, 7, 8, 99])
def test_the_graph_of_the_oracle_is_regular_at_every_iteration_and_never_the_same(nodes: int, fan_out: int) -> None:
    everybody = graph(nodes, tuple((i, i + 1) for i in range(nodes - 1)))
    selection = Selection(SEED, everybody, (1,) * nodes, 1.0, who=Who.REGULAR, fan_out=fan_out)
    wanted = min(fan_out, nodes - 1)
    wanted += wanted * nodes % 2  # with both odd there is no such graph
    graphs = []
    for k in range(20):
        beside = [set(selection.receivers(node, k)) for node in range(nodes)]
        assert {len(others) for others in beside} == {wanted}
        assert all(node not in others for node, others in enumerate(beside))
        assert all(node in beside[other] for node, others in enumerate(beside) for other in others)
        graphs.append(tuple(frozenset(others) for others in beside))
    assert len(set(graphs)) > 1 or wanted == nodes - 1


def test_any_two_nodes_meet_equally_often() -> None:
    # Each pair is joined with probability 4/15 at each of 3000 iterations, independently: 800 times, deviation 24.2.
    # 120 pairs within 4.5 deviations: one false alarm in 1,200 seeds.
    circle = graph(16, tuple((i, i + 1) for i in range(15)))
    selection = Selection(SEED, circle, (1,) * 16, 1.0, who=Who.REGULAR, fan_out=4)
    met = np.zeros((16, 16))
    for k in range(3000):
        for node in range(16):
            met[node, list(selection.receivers(node, k))] += 1
    assert np.abs(met[np.triu_indices(16, 1)] - 800).max() < 4.5 * 24.3


@pytest.mark.parametrize("fan_out", [1, 2, 3, 4])
def test_the_oracle_keeps_the_mean(fan_out: int) -> None:
    spec = EpidemicSpec(sampling="oracle", fan_out=fan_out)
    start = np.arange(12.0).reshape(NODES, 2)
    selection = Selection(SEED, graph(), ALWAYS, spec.share, who=spec.who, fan_out=spec.fan_out)
    still = Constant(np.zeros(2))
    history = drive([spec.node(Context(SEED, i, graph(), selection, still, start[i])) for i in range(NODES)], 60)
    for models in history:
        np.testing.assert_allclose(models.mean(axis=0), start.mean(axis=0), rtol=0.0, atol=1e-12)
    assert np.ptp(history[-1], axis=0).max() < 1e-9


def test_a_fan_out_beyond_everybody_reaches_everybody_and_agrees_at_once() -> None:
    setting = setting_of(EpidemicSpec(fan_out=99, eta=0.5), problem_of())
    for models in drive(setting.nodes(), 3)[1:]:
        assert np.ptp(models, axis=0).max() < 1e-14


@BOTH
def test_a_smaller_step_ends_nearer_to_the_optimum(sampling: Sampling) -> None:
    problem = problem_of()
    far, near = (
        worst(setting_of(EpidemicSpec(sampling=sampling, fan_out=2, eta=eta), problem), 300) for eta in (0.5, 0.05)
    )
    assert far < 0.3
    assert near < far / 5


@BOTH
def test_ten_per_cent_loss_hardly_moves_the_result_unless_a_missing_model_counts_as_zero(sampling: Sampling) -> None:
    problem = problem_of()

    def result(on_loss: Literal["received", "naive"], loss: float) -> float:
        spec = EpidemicSpec(sampling=sampling, fan_out=2, eta=0.1, on_loss=on_loss)
        return worst(setting_of(spec, problem, message_loss=loss), 200)

    without = result("received", 0.0)
    assert result("received", 0.1) < 5 * without
    assert result("naive", 0.1) > 100 * without


@pytest.mark.parametrize(("on_loss", "expected"), [("received", 4.0), ("naive", 2.0)])
def test_a_mean_by_hand(on_loss: Literal["received", "naive"], expected: float) -> None:
    # of four nodes all send to all; only one message comes
    spec = EpidemicSpec(fan_out=3, eta=1.0, on_loss=on_loss)
    square = graph(4, ((0, 1), (1, 2), (2, 3)))
    selection = Selection(1, square, (1,) * 4, spec.share, who=spec.who, fan_out=spec.fan_out)
    node = spec.node(Context(1, 0, square, selection, Constant(np.array([2.0])), np.array([4.0])))
    node.prepare(0)
    assert node.message(0)["y"] == np.array([2.0])
    assert node.model.tolist() == [4.0], "the model changes with the step, not before"
    assert node.absorb(0, [Received(3, 0, {"y": np.array([6.0])}, 0)]) == 1.0
    node.step(0)
    assert node.model.tolist() == [expected]
