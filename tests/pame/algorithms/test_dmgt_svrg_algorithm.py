"""DMGT-SVRG against its equations in matrix form; trackers mean what gradients mean; it reaches the optimum."""

from typing import Literal, get_args

import numpy as np
import pytest

from pame.algorithms import Algorithm, Context, DmgtSvrg, DmgtSvrgSpec, Received, Selection, Who
from pame.exchange import Vector
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.rules import Messages, Values
from tests.pame.algorithms.harness import Constant, drive, graph
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
    full_gradients,
    gradients,
    lost_at,
    never,
    problem_of,
    q_of,
    setting_of,
    suboptimality,
    worst,
)


def slow_dmgt_svrg(
    problem: Regression, spec: DmgtSvrgSpec, periods: tuple[int, ...], either_way: Lost = never
) -> list[Matrix]:
    """y <- Q y + g - g of before, as the equations have it."""
    models = before = np.zeros((NODES, N))
    tracked = estimates = np.zeros((NODES, N))
    history = [models]
    for k in range(ITERATIONS):
        if k % spec.snapshot_every == 0:
            snapshot, full = models, full_gradients(problem, models)
        now = gradients(problem, models, k) - gradients(problem, snapshot, k) + full
        trackers = tracked + now - estimates
        estimates = now
        q = q_of(edge_weights(k, periods, spec.participation, either_way))
        tracked = q @ trackers
        after = q @ models - spec.eta / spec.gamma**k * trackers + spec.momentum * (models - before)
        before, models = models, after
        history.append(models)
    return history


@EVERY_SCHEDULE
@pytest.mark.parametrize("batch", [None, 7])
def test_twenty_iterations_equal_the_matrix_form(
    periods: tuple[int, ...], participation: float, batch: int | None
) -> None:
    spec = DmgtSvrgSpec(eta=0.2, gamma=1.01, momentum=0.4, snapshot_every=6, participation=participation)
    problem = problem_of(batch)
    check(setting_of(spec, problem, periods), slow_dmgt_svrg(problem, spec, periods))


def test_lost_messages_equal_the_matrix_form_without_the_edges_concerned() -> None:
    spec, problem = DmgtSvrgSpec(eta=0.2, snapshot_every=6), problem_of(7)
    nodes = check(
        setting_of(spec, problem, messages=Messages(loss=0.3)), slow_dmgt_svrg(problem, spec, ALWAYS, lost_at(0.3))
    )
    assert sum(node.desynchronised for node in nodes) == 0


def drift(nodes: list[Algorithm], k: int) -> float:
    """How far the mean tracker is from the mean gradient estimate, beside the largest tracker."""
    ours = [node for node in nodes if isinstance(node, DmgtSvrg)]
    assert len(ours) == NODES
    for node in ours:
        node.prepare(k)
    off = np.mean([node.tracker for node in ours], axis=0) - np.mean([node.estimate for node in ours], axis=0)
    return float(np.abs(off).max() / np.abs([node.tracker for node in ours]).max())


@pytest.mark.parametrize("values", get_args(Values))
@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_the_mean_tracker_is_the_mean_gradient_estimate_whatever_is_lost(values: Values, loss: float) -> None:
    spec = DmgtSvrgSpec(participation=0.5)
    setting = setting_of(spec, problem_of(7), DIFFERENT, messages=Messages(loss=loss, values=values))
    nodes = setting.nodes()
    drive(nodes, 17, setting.is_lost)
    assert drift(nodes, 17) < 1e-13


def test_it_is_not_if_only_one_end_drops_an_edge() -> None:
    setting = setting_of(DmgtSvrgSpec(on_loss="naive"), problem_of(7), messages=Messages(loss=0.1))
    nodes = setting.nodes()
    drive(nodes, 17, setting.is_lost)
    assert drift(nodes, 17) > 1e-3
    assert sum(node.desynchronised for node in nodes) > 0


@pytest.mark.parametrize(
    ("spec", "periods", "iterations"),
    [
        (DmgtSvrgSpec(eta=0.2), ALWAYS, 200),
        (DmgtSvrgSpec(eta=0.2, momentum=0.0), ALWAYS, 300),
        (DmgtSvrgSpec(eta=0.1, momentum=0.5, participation=0.5), ALWAYS, 500),
        (DmgtSvrgSpec(eta=0.1, momentum=0.5), (3,) * NODES, 500),
    ],
    ids=["every round", "without momentum", "participation", "period 3"],
)
def test_every_node_reaches_the_optimum_on_mini_batches(
    spec: DmgtSvrgSpec, periods: tuple[int, ...], iterations: int
) -> None:
    assert worst(setting_of(spec, problem_of(10), periods), iterations) < 1e-8


def test_at_ten_per_cent_loss_it_still_does_unless_only_one_end_drops_an_edge() -> None:
    problem = problem_of(10)

    def result(on_loss: Literal["both", "naive"]) -> float:
        return worst(setting_of(DmgtSvrgSpec(eta=0.2, on_loss=on_loss), problem, messages=Messages(loss=0.1)), 250)

    assert result("both") < 1e-8
    assert result("naive") > 1e-4


def test_after_a_node_came_back_empty_all_reach_the_optimum_again() -> None:
    setting = setting_of(DmgtSvrgSpec(eta=0.2), problem_of(10))
    selection, nodes = setting.selection(), setting.nodes()
    drive(nodes, 30)
    nodes[2] = setting.node(2, selection)
    assert drift(nodes, 0) > 1e-3, "the others still hold their ends"
    for j in setting.topology.neighbours(2):
        nodes[j].greet(2)
    assert drift(nodes, 0) < 1e-13
    assert suboptimality(setting, drive(nodes, 250)[-1]) < 1e-8


class Counting(Constant):
    """Notes which gradients are asked for; on a mini-batch the slope is 1 higher."""

    def __init__(self) -> None:
        super().__init__(np.array([2.0]))
        object.__setattr__(self, "asked", [])
        self.asked: list[tuple[str, float]]

    def gradient(self, model: Vector, iteration: int) -> Vector:
        self.asked.append((f"batch {iteration}", float(model[0])))
        return self.slope + 1.0

    def full_gradient(self, model: Vector) -> Vector:
        self.asked.append(("full", float(model[0])))
        return self.slope


def node_of(objective: Counting, first: int = 0) -> DmgtSvrg:
    """Node 0 of two at 4, whose edge weighs a half."""
    two = graph(2, ((0, 1),))
    selection = Selection(1, two, (1, 1), 1.0, who=Who.MUTUAL)
    spec = DmgtSvrgSpec(eta=0.5, momentum=0.5, snapshot_every=3)
    return spec.node(Context(1, 0, two, selection, objective, np.array([4.0]), first=first))


def test_a_full_gradient_is_taken_every_so_often_and_when_a_node_comes_back() -> None:
    objective = Counting()
    node = node_of(objective, first=1)
    for k in (1, 2, 3):
        node.prepare(k)
        assert node.tracker.tolist() == [2.0]
        node.step(k)
    assert objective.asked == [("full", 4.0), ("batch 2", 4.0), ("batch 2", 3.0), ("full", 1.5)]


def test_two_rounds_by_hand() -> None:
    node = node_of(Counting())
    node.prepare(0)
    node.absorb(0, [Received(1, 0, {"x": np.array([8.0]), "y": np.array([6.0])}, 0)])
    node.step(0)
    assert node.model.tolist() == [6.0 - 0.5 * 2.0]
    node.prepare(1)
    assert node.tracker.tolist() == [(2.0 + 6.0) / 2]
    node.absorb(1, [])
    node.step(1)
    assert node.model.tolist() == [5.0 - 0.5 * 4.0 + 0.5 * (5.0 - 4.0)]
    assert node.desynchronised == 1
