"""DFedAvgM against its equations in matrix form, by hand, and under loss."""

from typing import Literal

import numpy as np
import pytest

from pame.algorithms import Context, DfedavgmSpec, Received, Selection, Who
from pame.compressors import Quantize, expand
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.randomness import Key, Purpose
from pame.rules import Messages
from tests.pame.algorithms.harness import Constant, graph
from tests.pame.algorithms.oracle import (
    ALWAYS,
    EVERY_SCHEDULE,
    ITERATIONS,
    NODES,
    SEED,
    N,
    check,
    gradients,
    lost_at,
    problem_of,
    q_as_received,
    q_at,
    setting_of,
    worst,
)


def as_told(spec: DfedavgmSpec, models: Matrix, k: int) -> Matrix:
    """What the neighbours get to know of the models."""
    if spec.compressor is None:
        return models
    keys = [Key(SEED, Purpose.COMPRESSION, node, k) for node in range(NODES)]
    return np.stack([expand(spec.compressor.compress(model, key)) for model, key in zip(models, keys, strict=True)])


def slow_dfedavgm(problem: Regression, spec: DfedavgmSpec, periods: tuple[int, ...], loss: float = 0.0) -> list[Matrix]:
    """y^{k+1} = y^k - eta g(y^k) + theta (y^k - y^{k-1}); at a node's round y^{k-1} = y^k."""
    models = np.zeros((NODES, N))
    before = models
    history = [models]
    for k in range(ITERATIONS):
        weights = q_as_received(q_at(k, periods, spec.participation), k, lost_at(loss), spec.on_loss)
        own = np.diag(np.diag(weights))
        y = own @ models + (weights - own) @ as_told(spec, models, k)
        at_round = np.array([[k % period == 0] for period in periods])
        before = np.where(at_round, y, before)
        models = y - spec.eta / spec.gamma**k * gradients(problem, y, k) + spec.momentum * (y - before)
        before = y
        history.append(models)
    return history


@EVERY_SCHEDULE
@pytest.mark.parametrize("batch", [None, 7])
def test_twenty_iterations_equal_the_matrix_form(
    periods: tuple[int, ...], participation: float, batch: int | None
) -> None:
    spec = DfedavgmSpec(eta=0.2, gamma=1.01, momentum=0.8, participation=participation)
    problem = problem_of(batch)
    check(setting_of(spec, problem, periods), slow_dfedavgm(problem, spec, periods))


@pytest.mark.parametrize("on_loss", ["self", "naive"])
def test_lost_messages_equal_the_matrix_form(on_loss: Literal["self", "naive"]) -> None:
    spec, problem, periods = DfedavgmSpec(eta=0.2, on_loss=on_loss), problem_of(), (3,) * NODES
    check(setting_of(spec, problem, periods, messages=Messages(loss=0.4)), slow_dfedavgm(problem, spec, periods, 0.4))


def test_with_a_round_at_every_iteration_momentum_changes_nothing() -> None:
    problem = problem_of()
    without = slow_dfedavgm(problem, DfedavgmSpec(eta=0.2, momentum=0.0), ALWAYS)
    check(setting_of(DfedavgmSpec(eta=0.2, momentum=0.9), problem), without)


def test_a_smaller_step_ends_nearer_to_the_optimum() -> None:
    problem, periods = problem_of(), (5,) * NODES
    far, near = (worst(setting_of(DfedavgmSpec(eta=eta), problem, periods), 400) for eta in (0.1, 0.01))
    assert far < 0.6
    assert near < far / 10


def test_momentum_is_faster_at_the_same_step() -> None:
    problem, periods = problem_of(), (5,) * NODES
    with_momentum, without = (
        worst(setting_of(DfedavgmSpec(eta=0.005, momentum=theta), problem, periods), 100) for theta in (0.9, 0.0)
    )
    assert with_momentum < 0.7 * without


def test_ten_per_cent_loss_hardly_moves_the_result_unless_a_missing_model_counts_as_zero() -> None:
    problem, periods = problem_of(), (3,) * NODES

    def result(spec: DfedavgmSpec, loss: float) -> float:
        return worst(setting_of(spec, problem, periods, messages=Messages(loss=loss)), 200)

    without, own, naive = (
        result(DfedavgmSpec(eta=0.02), 0.0),
        result(DfedavgmSpec(eta=0.02), 0.1),
        result(DfedavgmSpec(eta=0.02, on_loss="naive"), 0.1),
    )
    assert own < 1.3 * without
    assert naive > 20 * without


def test_the_velocity_grows_between_rounds_and_is_forgotten_at_a_round() -> None:
    two = graph(2, ((0, 1),))
    selection = Selection(1, two, (3, 3), 1.0, who=Who.MUTUAL)
    context = Context(1, 0, two, selection, Constant(np.array([1.0])), np.array([0.0]))
    node = DfedavgmSpec(eta=1.0, momentum=0.5).node(context)
    for k, expected in ((1, -1.0), (2, -2.5)):
        node.step(k)
        assert node.model.tolist() == [expected]
    node.absorb(3, [Received(1, 3, {"x": np.array([4.5])}, 0)])
    node.step(3)
    assert node.model.tolist() == [1.0 - 1.0]


@EVERY_SCHEDULE
@pytest.mark.parametrize("loss", [0.0, 0.4])
def test_quantized_models_equal_the_matrix_form(periods: tuple[int, ...], participation: float, loss: float) -> None:
    spec = DfedavgmSpec(eta=0.1, participation=participation, compressor=Quantize(bits=6))
    problem = problem_of()
    expected = slow_dfedavgm(problem, spec, periods, loss)
    check(setting_of(spec, problem, periods, messages=Messages(loss=loss)), expected)


def test_eight_bits_end_where_whole_models_do_and_three_do_not() -> None:
    problem, periods = problem_of(), (5,) * NODES
    whole, fine, coarse = (
        worst(setting_of(DfedavgmSpec(eta=0.02, compressor=compressor), problem, periods), 300)
        for compressor in (None, Quantize(bits=8), Quantize(bits=3))
    )
    assert fine < 1.2 * whole
    assert coarse > 1.5 * whole
