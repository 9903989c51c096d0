"""NIDS against its paper's recursion and in matrix form; duals sum to zero; all nodes reach the optimum."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import pytest

from pame.algorithms import Algorithm, Context, Nids, NidsSpec, Received, Selection, Who
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.rules import Messages, Values
from tests.pame.algorithms.harness import EDGES, Constant, drive, graph
from tests.pame.algorithms.oracle import (
    ALWAYS,
    DIFFERENT,
    EVERY_SCHEDULE,
    ITERATIONS,
    NODES,
    Lost,
    N,
    check,
    edge_weights,
    gradients,
    lost_at,
    never,
    problem_of,
    q_at,
    q_of,
    rests,
    setting_of,
    suboptimality,
    worst,
)

ETA = 0.8


def slow_nids(problem: Regression, spec: NidsSpec, periods: tuple[int, ...], either_way: Lost = never) -> list[Matrix]:
    models = duals = np.zeros((NODES, N))
    history = [models]
    seldom = rests(periods, spec.participation) / spec.dual
    for k in range(ITERATIONS):
        eta = spec.eta / spec.gamma**k
        z = models - eta * (gradients(problem, models, k) + duals)
        weights = edge_weights(k, periods, spec.participation, either_way)
        duals = duals + (np.eye(NODES) - q_of(weights / seldom)) @ z / (2 * eta)
        models = (np.eye(NODES) + q_of(weights)) @ z / 2
        history.append(models)
    return history


@EVERY_SCHEDULE
@pytest.mark.parametrize("batch", [None, 7])
def test_twenty_iterations_equal_the_matrix_form(
    periods: tuple[int, ...], participation: float, batch: int | None
) -> None:
    spec = NidsSpec(eta=ETA, gamma=1.01, participation=participation, dual=0.7)
    problem = problem_of(batch)
    check(setting_of(spec, problem, periods), slow_nids(problem, spec, periods))


def test_with_a_round_at_every_iteration_it_is_the_two_step_recursion_of_the_paper() -> None:
    problem = problem_of()

    def half(k: int) -> Matrix:
        return (np.eye(NODES) + q_at(k, ALWAYS, 1.0)) / 2

    before = np.zeros((NODES, N))
    slopes = gradients(problem, before, 0)
    models = half(0) @ (before - ETA * slopes)
    history = [before, models]
    for k in range(1, ITERATIONS):
        now = gradients(problem, models, k)
        before, models = models, half(k) @ (2 * models - before - ETA * (now - slopes))
        slopes = now
        history.append(models)
    check(setting_of(NidsSpec(eta=ETA), problem), history)


def test_lost_messages_equal_the_matrix_form_without_the_edges_concerned() -> None:
    spec, problem = NidsSpec(eta=ETA), problem_of()
    nodes = check(
        setting_of(spec, problem, messages=Messages(loss=0.3)), slow_nids(problem, spec, ALWAYS, lost_at(0.3))
    )
    assert sum(node.desynchronised for node in nodes) == 0


def dual_sum(nodes: list[Algorithm]) -> float:
    """The largest coordinate of the sum of the duals, beside the largest dual."""
    duals = [node.dual for node in nodes if isinstance(node, Nids)]
    assert len(duals) == NODES
    return float(np.abs(np.sum(duals, axis=0)).max() / np.abs(duals).max())


@pytest.mark.parametrize("values", get_args(Values))
@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_the_duals_sum_to_zero_whatever_is_lost_and_however_values_are_rounded(values: Values, loss: float) -> None:
    spec = NidsSpec(eta=ETA, participation=0.5)
    setting = setting_of(spec, problem_of(), DIFFERENT, messages=Messages(loss=loss, values=values))
    nodes = setting.nodes()
    drive(nodes, 40, setting.is_lost)
    assert dual_sum(nodes) < 1e-13


def test_naively_dropping_a_message_at_one_end_leaves_a_sum_that_is_not_zero_and_is_counted() -> None:
    setting = setting_of(NidsSpec(eta=ETA, on_loss="naive"), problem_of(), messages=Messages(loss=0.1))
    nodes = setting.nodes()
    drive(nodes, 40, setting.is_lost)
    assert dual_sum(nodes) > 1e-3
    lost = sum(setting.is_lost(i, j, k) for k in range(40) for edge in EDGES for i, j in (edge, edge[::-1]))
    assert sum(node.desynchronised for node in nodes) == lost > 0


@pytest.mark.parametrize(
    ("spec", "periods"),
    [
        (NidsSpec(eta=ETA), ALWAYS),
        (NidsSpec(eta=ETA, mixing="uniform"), ALWAYS),
        (NidsSpec(eta=ETA, participation=0.5), ALWAYS),
        (NidsSpec(eta=0.2), (5,) * NODES),
        (NidsSpec(eta=0.4), (2, 1, 3, 2, 1, 2)),
    ],
    ids=["as published", "uniform", "participation", "period 5", "periods"],
)
def test_every_node_reaches_the_optimum(spec: NidsSpec, periods: tuple[int, ...]) -> None:
    assert worst(setting_of(spec, problem_of(), periods), 400) < 1e-8


def test_where_edges_are_seldom_active_the_duals_do_not_drift_away() -> None:
    spec, periods = NidsSpec(eta=0.2, participation=0.3), (3, 4, 5, 3, 4, 5)
    early, late = (worst(setting_of(spec, problem_of(), periods), iterations) for iterations in (300, 3000))
    assert late < early / 10


def test_at_ten_per_cent_loss_it_still_does_unless_only_one_end_drops_an_edge() -> None:
    problem = problem_of()

    def result(on_loss: Literal["both", "naive"]) -> float:
        return worst(setting_of(NidsSpec(eta=ETA, on_loss=on_loss), problem, messages=Messages(loss=0.1)), 300)

    assert result("both") < 1e-8
    assert result("naive") > 1e-4


def test_after_a_node_came_back_empty_all_reach_the_optimum_again() -> None:
    setting = setting_of(NidsSpec(eta=ETA), problem_of())
    selection, nodes = setting.selection(), setting.nodes()
    drive(nodes, 30)
    nodes[2] = setting.node(2, selection)
    assert dual_sum(nodes) > 1e-3, "the others still hold their ends"
    for j in setting.topology.neighbours(2):
        nodes[j].greet(2)
    assert dual_sum(nodes) < 1e-13
    assert suboptimality(setting, drive(nodes, 300)[-1]) < 1e-8


def middle_of_three(is_lost: Callable[[int, int, int], bool] = never) -> Nids:
    """Node 1 of a line of three at 4, where every edge weighs a third."""
    line = graph(3, ((0, 1), (1, 2)))
    selection = Selection(1, line, (1, 1, 1), 1.0, who=Who.MUTUAL)
    still = Constant(np.array([0.0]))
    return NidsSpec(eta=0.5).node(Context(1, 1, line, selection, still, np.array([4.0]), is_lost=is_lost))


def heard(node: Nids, *messages: tuple[int, int, float]) -> list[float]:
    """Its model and dual after the messages (sender, iteration, value) of iteration 0."""
    node.prepare(0)
    node.absorb(0, [Received(sender, k, {"z": np.array([value])}, 0) for sender, k, value in messages])
    node.step(0)
    return [float(node.model[0]), float(node.dual[0])]


def test_a_round_by_hand() -> None:
    # r = ((4 - 10) / 3 + (4 - 1) / 3) / 2 = -1/2
    assert heard(middle_of_three(), (0, 0, 10.0), (2, 0, 1.0)) == pytest.approx([4.5, -1.0])


def test_an_edge_over_which_its_own_message_is_lost_is_left_out_though_the_other_came() -> None:
    node = middle_of_three(lambda sender, receiver, _k: (sender, receiver) == (1, 2))
    assert heard(node, (0, 0, 10.0), (2, 0, 1.0)) == pytest.approx([5.0, -2.0])
    assert node.desynchronised == 0


def test_what_did_not_come_or_is_of_another_round_is_left_out_and_counted() -> None:
    node = middle_of_three()
    assert heard(node, (0, 0, 10.0), (2, 1, 1.0)) == pytest.approx([5.0, -2.0])
    assert node.desynchronised == 1
