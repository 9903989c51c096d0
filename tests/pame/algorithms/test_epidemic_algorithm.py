"""Epidemic learning, local and oracle, against the matrices of who reached whom; by hand, and under loss."""

from typing import Literal

import numpy as np
import pytest

from pame.algorithms import Context, EpidemicSpec, Received, Selection, Who
from pame.byte_account import ByteAccount, Fate
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.randomness import Key, Purpose, subset
from pame.rules import Messages
from pame.simulator import run_lock_step
from pame.topology.regular_draw import regular_neighbours
from tests.pame.algorithms.harness import EDGES, Constant, Watcher, drive, graph
from tests.pame.algorithms.oracle import (
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
    for i, others in enumerate(regular_neighbours(Key(SEED, Purpose.EPIDEMIC, iteration=k), NODES, fan_out)):
        sent[i, list(others)] = 1.0
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
    ledger = ByteAccount(NODES)
    run_lock_step(setting_of(EpidemicSpec(sampling=sampling, fan_out=2), problem_of()), Watcher(), ledger)
    links = ledger.links()
    used = {(min(i, j), max(i, j)) for i, j in zip(links.sender.tolist(), links.receiver.tolist(), strict=True)}
    assert len(used) == NODES * (NODES - 1) // 2
    assert used - set(EDGES)


def test_a_local_node_sends_fan_out_messages_whatever_it_receives() -> None:
    ledger = ByteAccount(NODES)
    run_lock_step(setting_of(EpidemicSpec(fan_out=3), problem_of()), Watcher(), ledger)
    assert ledger.messages(Fate.SENT) == 3 * NODES * ITERATIONS


def test_every_node_computes_the_same_graph_by_itself_and_another_at_every_iteration() -> None:
    everybody = graph(16, tuple((i, i + 1) for i in range(15)))
    ours, theirs = (Selection(SEED, everybody, (1,) * 16, 1.0, who=Who.REGULAR, fan_out=4) for _ in range(2))
    drawn = [[ours.receivers(node, k) for node in range(16)] for k in range(20)]
    assert drawn[::-1] == [[theirs.senders(node, k) for node in range(16)] for k in reversed(range(20))]
    assert len({tuple(each) for each in drawn}) == 20


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
        return worst(setting_of(spec, problem, messages=Messages(loss=loss)), 200)

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
