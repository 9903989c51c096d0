"""Rounds and steps worked out by hand, of the algorithms that send whole vectors."""

from typing import Literal

import numpy as np
import pytest

from pame.algorithms import (
    Algorithm,
    AlgorithmSpec,
    DfedavgmSpec,
    DfedsamSpec,
    DmgtSvrgSpec,
    DpsgdSpec,
    EpidemicSpec,
    NidsSpec,
    Received,
    Who,
)
from pame.algorithms.dmgt_svrg import DmgtSvrg
from pame.exchange import PartialMessage, Vector
from tests.pame.algorithms.builders import Asked, Constant, Pull, context_of, graph

OnLoss = Literal["self", "naive"]
Order = Literal["mix-first", "step-first"]


def came(sender: int, k: int, **vectors: list[float]) -> Received:
    return Received(sender, k, {name: np.array(values) for name, values in vectors.items()}, 0)


def dpsgd(on_loss: OnLoss, order: Order = "mix-first") -> Algorithm:
    """Node 0 of two joined nodes, at 4: all weights are one half."""
    return DpsgdSpec(eta=0.1, on_loss=on_loss, order=order).node(context_of([4.0], Constant(np.array([10.0]))))


def test_unless_told_otherwise_dpsgd_mixes_first() -> None:
    assert DpsgdSpec().order == "mix-first"


@pytest.mark.parametrize(
    ("order", "sent", "on_loss", "models", "expected"),
    [
        ("mix-first", 4.0, "self", [8.0], 6.0 - 1.0),
        ("mix-first", 4.0, "self", [], 4.0 - 1.0),
        ("mix-first", 4.0, "naive", [8.0], 6.0 - 1.0),
        ("mix-first", 4.0, "naive", [], 2.0 - 1.0),
        ("step-first", 3.0, "self", [8.0], (3.0 + 8.0) / 2),
        ("step-first", 3.0, "self", [], 3.0),
        ("step-first", 3.0, "naive", [8.0], (3.0 + 8.0) / 2),
        ("step-first", 3.0, "naive", [], 3.0 / 2),
    ],
)
def test_dpsgd_on_two_nodes(order: Order, sent: float, on_loss: OnLoss, models: list[float], expected: float) -> None:
    node = dpsgd(on_loss, order)
    node.prepare(0)
    assert node.message(0)["x"] == np.array([sent])
    assert node.model.tolist() == [4.0], "the model changes with the step, not before"
    assert node.absorb(0, [came(1, 0, x=[x]) for x in models]) == float(len(models))
    node.step(0)
    assert node.model.tolist() == pytest.approx([expected], rel=1e-15)


def test_dpsgd_takes_the_gradient_at_the_own_model_before_averaging() -> None:
    objective = Asked(1)
    node = DpsgdSpec().node(context_of([4.0], objective))
    node.absorb(3, [came(1, 3, x=[8.0])])
    node.step(3)
    assert objective.asked == [([4.0], 3)]
    assert node.model.tolist() == [6.0]


def test_a_step_does_not_change_a_message_that_is_under_way() -> None:
    node = dpsgd("self")
    before = node.message(0)["x"]
    node.step(0)
    assert isinstance(before, np.ndarray)
    assert before.tolist() == [4.0]


@pytest.mark.parametrize("spec", [DpsgdSpec(), DfedsamSpec()], ids=["dpsgd", "dfedsam"])
def test_a_partial_message_is_refused_where_a_whole_model_is_expected(spec: AlgorithmSpec) -> None:
    partial = PartialMessage(1, np.array([0]), np.array([1.0]))
    with pytest.raises(TypeError, match="PartialMessage where a whole vector"):
        spec.node(context_of([4.0], who=spec.who)).absorb(0, [Received(1, 0, {"x": partial}, 0)])


def test_the_velocity_of_dfedavgm_grows_between_rounds_and_is_forgotten_at_a_round() -> None:
    context = context_of([0.0], Constant(np.array([1.0])), who=Who.MUTUAL, period=3)
    node = DfedavgmSpec(eta=1.0, momentum=0.5).node(context)
    for k, expected in ((1, -1.0), (2, -2.5)):
        node.step(k)
        assert node.model.tolist() == [expected]
    node.absorb(3, [came(1, 3, x=[4.5])])
    node.step(3)
    assert node.model.tolist() == [1.0 - 1.0]


@pytest.mark.parametrize(
    ("spec", "start", "models", "expected"),
    [
        # the average is (3, 4), five long; one further along it is (3.6, 4.8), the gradient there
        (DfedsamSpec(eta=0.5, rho=1.0), [6.0, 0.0], [[0.0, 8.0]], [1.2, 1.6]),
        (DfedsamSpec(rho=1.0), [0.0, 0.0], [], [0.0, 0.0]),  # where the gradient is zero nothing is perturbed
        (DfedsamSpec(eta=0.25, rho=0.0), [4.0], [], [3.0]),  # gradient descent
    ],
)
def test_a_step_of_dfedsam(
    spec: DfedsamSpec, start: list[float], models: list[list[float]], expected: list[float]
) -> None:
    node = spec.node(context_of(start, Pull(np.zeros(len(start))), who=Who.MUTUAL))  # half of ||w||^2
    for model in models:
        assert node.absorb(0, [came(1, 0, x=model)]) == 1.0
    node.step(0)
    assert node.model.tolist() == pytest.approx(expected, rel=1e-15, abs=0.0)


@pytest.mark.parametrize(("on_loss", "expected"), [("received", 4.0), ("naive", 2.0)])
def test_a_mean_of_epidemic_learning(on_loss: Literal["received", "naive"], expected: float) -> None:
    # of four nodes all send to all; only one message comes
    spec = EpidemicSpec(fan_out=3, eta=1.0, on_loss=on_loss)
    line = graph(4, ((0, 1), (1, 2), (2, 3)))
    node = spec.node(context_of([4.0], Constant(np.array([2.0])), line, spec.who, fan_out=3))
    node.prepare(0)
    assert node.message(0)["y"] == np.array([2.0])
    assert node.model.tolist() == [4.0], "the model changes with the step, not before"
    assert node.absorb(0, [came(3, 0, y=[6.0])]) == 1.0
    node.step(0)
    assert node.model.tolist() == [expected]


@pytest.mark.parametrize(
    ("of_the_second", "lost", "expected", "gaps"),
    [(0, None, [4.5, -1.0], 0), (0, (1, 2), [5.0, -2.0], 0), (1, None, [5.0, -2.0], 1)],
    ids=["both came", "its own message over the edge is lost", "one is of another round"],
)
def test_a_round_of_nids_leaves_out_an_edge_that_is_not_whole(
    of_the_second: int, lost: tuple[int, int] | None, expected: list[float], gaps: int
) -> None:
    # node 1 of a line of three at 4; every edge weighs a third: r = ((4 - 10) / 3 + (4 - 1) / 3) / 2 = -1/2
    line = graph(3, ((0, 1), (1, 2)))
    context = context_of([4.0], None, line, Who.MUTUAL, node=1, is_lost=lambda j, i, _k: (j, i) == lost)
    node = NidsSpec(eta=0.5).node(context)
    node.prepare(0)
    node.absorb(0, [came(0, 0, z=[10.0]), came(2, of_the_second, z=[1.0])])
    node.step(0)
    assert [*node.model, *node.dual] == pytest.approx(expected)
    assert node.desynchronised == gaps


class Batches(Asked):
    """On a mini-batch the slope is 1 higher; -1 stands for the iteration of a full gradient."""

    def gradient(self, model: Vector, iteration: int) -> Vector:
        super().gradient(model, iteration)
        return np.array([3.0])

    def full_gradient(self, model: Vector) -> Vector:
        super().gradient(model, -1)
        return np.array([2.0])


def dmgt_svrg(objective: Batches, first: int = 0) -> DmgtSvrg:
    """Node 0 of two at 4, whose edge weighs a half."""
    spec = DmgtSvrgSpec(eta=0.5, momentum=0.5, snapshot_every=3)
    return spec.node(context_of([4.0], objective, who=Who.MUTUAL, first=first))


def test_dmgt_svrg_takes_a_full_gradient_every_so_often_and_when_a_node_comes_back() -> None:
    objective = Batches(1)
    node = dmgt_svrg(objective, first=1)
    for k in (1, 2, 3):
        node.prepare(k)
        assert node.tracker.tolist() == [2.0]
        node.step(k)
    assert objective.asked == [([4.0], -1), ([4.0], 2), ([3.0], 2), ([1.5], -1)]


def test_two_rounds_of_dmgt_svrg() -> None:
    node = dmgt_svrg(Batches(1))
    node.prepare(0)
    node.absorb(0, [came(1, 0, x=[8.0], y=[6.0])])
    node.step(0)
    assert node.model.tolist() == [6.0 - 0.5 * 2.0]
    node.prepare(1)
    assert node.tracker.tolist() == [(2.0 + 6.0) / 2]
    node.absorb(1, [])
    node.step(1)
    assert node.model.tolist() == [5.0 - 0.5 * 4.0 + 0.5 * (5.0 - 4.0)]
    assert node.desynchronised == 1
