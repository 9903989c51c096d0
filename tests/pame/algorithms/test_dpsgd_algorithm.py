"""D-PSGD against X <- P X - eta G and X <- P (X - eta G), with periods, losses, both answers to a missing message."""

from typing import Literal

import numpy as np
import pytest

from pame.algorithms import Algorithm, Context, DpsgdSpec, Received, Selection
from pame.byte_account import ByteAccount, Fate
from pame.exchange import PartialMessage, Vector
from pame.problems import LinearSpec
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from pame.rules import Messages
from pame.sampling import message_lost
from pame.simulator import run_lock_step
from pame.stopping import StopRules
from tests.pame.algorithms.harness import EDGES, Constant, Watcher, drive, graph

SEED, NODES, N, ITERATIONS = 3, 6, 20, 30
DEGREES = (5, 2, 3, 2, 2, 2)

Mixing = Literal["metropolis", "uniform"]
OnLoss = Literal["self", "naive"]
Order = Literal["mix-first", "step-first"]
BOTH_ORDERS = pytest.mark.parametrize("order", ["mix-first", "step-first"])


def mixing_matrix(kind: Mixing) -> Matrix:
    q = np.zeros((NODES, NODES))
    for i, j in EDGES:
        q[i, j] = q[j, i] = 1 / (1 + max(DEGREES[i], DEGREES[j])) if kind == "metropolis" else 1 / 6
    return q + np.diag(1 - q.sum(axis=1))


def problem_of(size: int | None = None) -> Regression:
    spec = LinearSpec(n=N, samples=30, batch=size, nonzeros=0.5, feature_shift=0.5, test_samples=5)
    return spec.build(NODES, SEED)


def gradients(problem: Regression, models: Matrix, k: int) -> Matrix:
    return np.stack([problem.local(i).gradient(models[i], k) for i in range(NODES)])


def slow_dpsgd(
    problem: Regression, spec: DpsgdSpec, periods: tuple[int, ...], loss: float, float32: bool
) -> list[Matrix]:
    """At a node's round its row of Q applies, else that of the identity; a lost weight moves to the diagonal."""
    q = mixing_matrix(spec.mixing)
    models = np.zeros((NODES, N))
    history = [models]
    for k in range(ITERATIONS):
        p = np.eye(NODES)
        for i in range(NODES):
            if k % periods[i] == 0:
                p[i] = q[i]
                for j in range(NODES):
                    if j != i and q[i, j] > 0 and message_lost(SEED, j, i, k, loss):
                        p[i, i] += p[i, j] if spec.on_loss == "self" else 0.0
                        p[i, j] = 0.0
        own = np.diag(np.diag(p))
        steps = spec.eta / spec.gamma**k * gradients(problem, models, k)
        mixed = models if spec.order == "mix-first" else models - steps
        sent = mixed.astype(np.float32).astype(float) if float32 else mixed
        models = own @ mixed + (p - own) @ sent - (steps if spec.order == "mix-first" else 0.0)
        history.append(models)
    return history


def check(
    spec: DpsgdSpec, periods: tuple[int, ...], loss: float = 0.0, size: int | None = None, f32: bool = False
) -> None:
    problem = problem_of(size)
    expected = slow_dpsgd(problem, spec, periods, loss, f32)
    assert np.abs(expected[-1]).max() > 0.1
    setting = ResolvedRun(
        seed=SEED,
        topology=graph(),
        problem=problem,
        algorithm=spec,
        periods=periods,
        stop=StopRules(ITERATIONS),
        messages=Messages(loss=loss, values="float32" if f32 else "float64"),
    )
    history = drive(setting.nodes(), ITERATIONS, lambda j, i, k: message_lost(SEED, j, i, k, loss))
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(history[k], expected[k], rtol=0.0, atol=1e-12)
    outcome = run_lock_step(setting, Watcher(), ledger := ByteAccount(NODES))
    assert np.array_equal(outcome.models, history[-1])
    assert (ledger.messages(Fate.LOST) > 0) == (loss > 0.0)


@BOTH_ORDERS
@pytest.mark.parametrize("mixing", ["metropolis", "uniform"])
@pytest.mark.parametrize("periods", [(1,) * 6, (2,) * 6, (1, 3, 2, 5, 2, 4)], ids=["1", "2", "different"])
def test_thirty_iterations_equal_the_matrix_form(mixing: Mixing, periods: tuple[int, ...], order: Order) -> None:
    check(DpsgdSpec(eta=0.1, gamma=1.01, mixing=mixing, order=order), periods)


@BOTH_ORDERS
def test_mini_batches_equal_the_matrix_form(order: Order) -> None:
    check(DpsgdSpec(eta=0.1, order=order), (1, 3, 2, 5, 2, 4), size=7)


@BOTH_ORDERS
def test_models_rounded_to_float32_on_the_way_equal_the_matrix_form_with_the_own_model_unrounded(order: Order) -> None:
    check(DpsgdSpec(eta=0.1, order=order), (1, 3, 2, 5, 2, 4), f32=True)


@BOTH_ORDERS
@pytest.mark.parametrize("on_loss", ["self", "naive"])
@pytest.mark.parametrize("mixing", ["metropolis", "uniform"])
def test_lost_messages_equal_the_matrix_form(mixing: Mixing, on_loss: OnLoss, order: Order) -> None:
    check(DpsgdSpec(eta=0.1, mixing=mixing, on_loss=on_loss, order=order), (1, 1, 2, 1, 2, 1), loss=0.4)


def test_unless_told_otherwise_it_mixes_first() -> None:
    assert DpsgdSpec().order == "mix-first"


def settled(spec: DpsgdSpec, iterations: int, loss: float = 0.0) -> tuple[Regression, Matrix]:
    """The problem, and the models after so many iterations."""
    problem = problem_of()
    setting = ResolvedRun(
        SEED, graph(), problem, spec, (1,) * NODES, StopRules(iterations), messages=Messages(loss=loss)
    )
    return problem, run_lock_step(setting, Watcher(), ByteAccount(NODES)).models


def worst(problem: Regression, models: Matrix) -> float:
    """f - f* at the node where it is largest, over the same at w = 0."""
    best = problem.optimum().objective
    largest = max(problem.objective(model) for model in models)
    return (largest - best) / (problem.objective(np.zeros(N)) - best)


def test_it_ends_in_a_ball_around_the_optimum_that_shrinks_with_the_step() -> None:
    far, near = (settled(DpsgdSpec(eta=eta), n) for eta, n in ((0.1, 400), (0.025, 1600)))
    distances = [np.linalg.norm(models - problem.optimum().model) for problem, models in (far, near)]
    assert worst(*far) < 0.001
    assert distances[1] < 0.5 * distances[0]


def test_by_default_a_tenth_of_the_messages_lost_hardly_moves_where_it_ends_and_naively_it_does() -> None:
    calm, lossy = (worst(*settled(DpsgdSpec(), 300, loss)) for loss in (0.0, 0.1))
    assert lossy < 1.1 * calm
    assert worst(*settled(DpsgdSpec(on_loss="naive"), 300, 0.1)) > 100 * calm


def still_nodes(spec: DpsgdSpec, start: Matrix, periods: tuple[int, ...] = (1,) * NODES) -> list[Algorithm]:
    """Nodes without gradients, each with a start of its own."""
    selection = Selection(SEED, graph(), periods, spec.share)
    still = Constant(np.zeros(start.shape[1]))
    return [spec.node(Context(SEED, i, graph(), selection, still, start[i])) for i in range(NODES)]


STARTS = np.array([[3.0, -1.0], [10.0, 0.0], [-7.0, 5.0], [0.5, 2.0], [4.0, 4.0], [1.5, -4.0]])


@pytest.mark.parametrize("mixing", ["metropolis", "uniform"])
def test_mixing_alone_keeps_the_mean_and_ends_in_consensus(mixing: Mixing) -> None:
    history = drive(still_nodes(DpsgdSpec(mixing=mixing), STARTS), 200)
    for models in history:
        np.testing.assert_allclose(models.mean(axis=0), STARTS.mean(axis=0), rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(history[-1], np.tile(STARTS.mean(axis=0), (NODES, 1)), rtol=0.0, atol=1e-9)


def test_under_loss_the_weight_to_itself_keeps_a_consensus_and_the_naive_sum_shrinks_it() -> None:
    agreed = np.tile([2.0, -3.0], (NODES, 1))
    kept = drive(still_nodes(DpsgdSpec(), agreed), 20, lambda j, _i, k: (j + k) % 3 == 0)[-1]
    np.testing.assert_allclose(kept, agreed, rtol=1e-14)
    shrunk = drive(still_nodes(DpsgdSpec(on_loss="naive"), agreed), 20, lambda j, _i, k: (j + k) % 3 == 0)[-1]
    assert np.all(np.abs(shrunk) < 0.1 * np.abs(agreed))


def pair_of(on_loss: OnLoss, order: Order = "mix-first") -> Algorithm:
    """Node 0 of two joined nodes, at 4: all weights are one half."""
    two = graph(2, ((0, 1),))
    context = Context(1, 0, two, Selection(1, two, (1, 1), 1.0), Constant(np.array([10.0])), np.array([4.0]))
    return DpsgdSpec(eta=0.1, on_loss=on_loss, order=order).node(context)


@pytest.mark.parametrize(
    ("on_loss", "models", "expected"),
    [("self", [8.0], 6.0 - 1.0), ("self", [], 4.0 - 1.0), ("naive", [8.0], 6.0 - 1.0), ("naive", [], 2.0 - 1.0)],
)
def test_two_nodes_by_hand(on_loss: OnLoss, models: list[float], expected: float) -> None:
    node = pair_of(on_loss)
    assert node.absorb(0, [Received(1, 0, {"x": np.array([x])}, 0) for x in models]) == float(len(models))
    node.step(0)
    assert node.model.tolist() == pytest.approx([expected], rel=1e-15)


@pytest.mark.parametrize(
    ("on_loss", "models", "expected"),
    [("self", [8.0], (3.0 + 8.0) / 2), ("self", [], 3.0), ("naive", [8.0], (3.0 + 8.0) / 2), ("naive", [], 3.0 / 2)],
)
def test_two_nodes_by_hand_when_the_step_comes_first(on_loss: OnLoss, models: list[float], expected: float) -> None:
    node = pair_of(on_loss, "step-first")
    node.prepare(0)
    assert node.message(0)["x"] == np.array([3.0])
    assert node.model.tolist() == [4.0], "the model changes with the step, not before"
    node.absorb(0, [Received(1, 0, {"x": np.array([x])}, 0) for x in models])
    node.step(0)
    assert node.model.tolist() == pytest.approx([expected], rel=1e-15)


def test_the_gradient_is_taken_at_the_own_model_before_averaging() -> None:
    asked: list[tuple[list[float], int]] = []

    class Spy(Constant):
        def gradient(self, model: Vector, iteration: int) -> Vector:
            asked.append((model.tolist(), iteration))
            return np.zeros_like(model)

    two = graph(2, ((0, 1),))
    node = DpsgdSpec().node(Context(1, 0, two, Selection(1, two, (1, 1), 1.0), Spy(np.zeros(1)), np.array([4.0])))
    node.absorb(3, [Received(1, 3, {"x": np.array([8.0])}, 0)])
    node.step(3)
    assert asked == [([4.0], 3)]
    assert node.model.tolist() == [6.0]


def test_a_step_does_not_change_a_message_that_is_under_way() -> None:
    node = pair_of("self")
    before = node.message(0)["x"]
    node.step(0)
    assert not isinstance(before, PartialMessage)
    assert before.tolist() == [4.0]


def test_a_partial_message_is_refused_where_a_whole_model_is_expected() -> None:
    partial = PartialMessage(1, np.array([0]), np.array([1.0]))
    with pytest.raises(TypeError, match="PartialMessage"):
        pair_of("self").absorb(0, [Received(1, 0, {"x": partial}, 0)])
