"""DFedSAM against its equations in matrix form, by hand, and under loss."""

from typing import Literal

import numpy as np
import pytest

from pame.algorithms import Context, DfedsamSpec, DpsgdSpec, Received, Selection, Who
from pame.exchange import PartialMessage, Vector
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.rules import Messages
from tests.pame.algorithms.harness import Constant, graph
from tests.pame.algorithms.oracle import (
    ALWAYS,
    EVERY_SCHEDULE,
    ITERATIONS,
    NODES,
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


def slow_dfedsam(problem: Regression, spec: DfedsamSpec, periods: tuple[int, ...], loss: float = 0.0) -> list[Matrix]:
    models = np.zeros((NODES, N))
    history = [models]
    for k in range(ITERATIONS):
        q = q_as_received(q_at(k, periods, spec.participation), k, lost_at(loss), spec.on_loss)
        y = q @ models
        slopes = gradients(problem, y, k)
        uphill = y + spec.rho * slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
        models = y - spec.eta / spec.gamma**k * gradients(problem, uphill, k)
        history.append(models)
    return history


@EVERY_SCHEDULE
@pytest.mark.parametrize("batch", [None, 7])
def test_twenty_iterations_equal_the_matrix_form(
    periods: tuple[int, ...], participation: float, batch: int | None
) -> None:
    spec = DfedsamSpec(eta=0.5, gamma=1.01, rho=0.3, participation=participation)
    problem = problem_of(batch)
    check(setting_of(spec, problem, periods), slow_dfedsam(problem, spec, periods))


@pytest.mark.parametrize("on_loss", ["self", "naive"])
def test_lost_messages_equal_the_matrix_form(on_loss: Literal["self", "naive"]) -> None:
    spec, problem = DfedsamSpec(eta=0.5, rho=0.1, on_loss=on_loss), problem_of()
    check(setting_of(spec, problem, messages=Messages(loss=0.4)), slow_dfedsam(problem, spec, ALWAYS, 0.4))


def test_a_smaller_step_ends_nearer_to_the_optimum() -> None:
    problem = problem_of()
    far, near = (worst(setting_of(DfedsamSpec(eta=eta, rho=0.01), problem), 200) for eta in (0.5, 0.05))
    assert far < 0.3
    assert near < far / 10


def test_a_larger_perturbation_ends_farther_from_the_optimum() -> None:
    problem = problem_of()
    near, far = (worst(setting_of(DfedsamSpec(eta=0.05, rho=rho), problem), 200) for rho in (0.01, 1.0))
    assert far > 5 * near


def test_ten_per_cent_loss_hardly_moves_the_result_unless_a_missing_model_counts_as_zero() -> None:
    problem = problem_of()

    def result(spec: DfedsamSpec, loss: float) -> float:
        return worst(setting_of(spec, problem, messages=Messages(loss=loss)), 200)

    without, own, naive = (
        result(DfedsamSpec(eta=0.1), 0.0),
        result(DfedsamSpec(eta=0.1), 0.1),
        result(DfedsamSpec(eta=0.1, on_loss="naive"), 0.1),
    )
    assert own < 1.3 * without
    assert naive > 20 * without


class Bowl(Constant):
    """Half of ||w||^2."""

    def gradient(self, model: Vector, iteration: int) -> Vector:
        return model


def pair_of(start: list[float]) -> Context:
    two = graph(2, ((0, 1),))
    selection = Selection(1, two, (1, 1), 1.0, who=Who.MUTUAL)
    return Context(1, 0, two, selection, Bowl(np.zeros(len(start))), np.array(start))


def test_a_step_by_hand() -> None:
    # average (3, 4), five long; one further along it is (3.6, 4.8), the gradient there
    node = DfedsamSpec(eta=0.5, rho=1.0).node(pair_of([6.0, 0.0]))
    assert node.absorb(0, [Received(1, 0, {"x": np.array([0.0, 8.0])}, 0)]) == 1.0
    node.step(0)
    assert node.model.tolist() == pytest.approx([1.2, 1.6], rel=1e-15)


def test_where_the_gradient_is_zero_nothing_is_perturbed() -> None:
    node = DfedsamSpec(rho=1.0).node(pair_of([0.0, 0.0]))
    node.step(1)
    assert node.model.tolist() == [0.0, 0.0]


def test_without_perturbation_and_rounds_it_is_gradient_descent() -> None:
    node = DfedsamSpec(eta=0.25, rho=0.0).node(pair_of([4.0]))
    node.step(1)
    assert node.model.tolist() == [3.0]


def test_a_partial_message_is_refused() -> None:
    node = DfedsamSpec().node(pair_of([4.0]))
    with pytest.raises(TypeError, match="PartialMessage where a whole vector"):
        node.absorb(0, [Received(1, 0, {"x": PartialMessage(1, np.array([0]), np.array([1.0]))}, 0)])


def test_it_is_not_dpsgd() -> None:
    # D-PSGD takes the gradient before averaging
    problem = problem_of()
    one = worst(setting_of(DfedsamSpec(eta=0.5, rho=0.0), problem), 50)
    assert one != worst(setting_of(DpsgdSpec(eta=0.5), problem), 50)
