"""PaME against Algorithms 1 and 2 written out with nested loops, and its edge cases by hand."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from pame.algorithms import Context, FixedStep, Pame, PameSpec, PenaltyStep, Received, Selection, Step
from pame.byte_account import ByteAccount, Fate
from pame.errors import ParameterError
from pame.exchange import Vector, reveal
from pame.problems import LinearSpec
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from pame.rules import Messages
from pame.sampling import batch, candidates, message_lost, support
from pame.simulator import run_lock_step
from pame.stopping import StopRules
from tests.pame.algorithms.harness import EDGES, Constant, Watcher, drive, graph, neighbours_in

SEED, NODES, N, SAMPLES = 6, 6, 20, 30
PERIODS = (1, 3, 2, 5, 2, 4)
NU, S = Fraction(1, 2), 6
ITERATIONS = 30


def problem_of(size: int | None) -> Regression:
    return LinearSpec(n=N, samples=SAMPLES, batch=size, nonzeros=0.5, feature_shift=0.5, test_samples=5).build(
        NODES, SEED
    )


def slow_gradient(problem: Regression, node: int, model: Vector, k: int, size: int | None) -> Vector:
    """grad f_i on the rows of the batch, sample by sample."""
    shard = problem.shards.of(node)
    rows = range(SAMPLES) if size is None else batch(SEED, node, k, SAMPLES, size).tolist()
    gradient = np.zeros(N)
    for row in rows:
        residual = sum(float(a) * float(w) for a, w in zip(shard.features[row], model, strict=True)) - shard.labels[row]
        gradient += residual * shard.features[row]
    return gradient / len(rows)


def slow_pame(problem: Regression, size: int | None, step: Step, float32: bool, loss: float) -> list[Matrix]:
    """Algorithm 1 with sigma kept as it is printed, and Algorithm 2 coordinate by coordinate."""
    models = np.zeros((NODES, N))
    sigma = step.sigma0 if isinstance(step, PenaltyStep) else 1.0 / step.eta
    history = [models.copy()]
    for k in range(ITERATIONS):
        following = np.empty_like(models)
        supports = [set(support(SEED, j, k, N, S).tolist()) for j in range(NODES)]
        for i in range(NODES):
            near = neighbours_in(EDGES, i)
            t = max(1, ceil(NU * len(near)))
            v = models[i].copy()
            if k % PERIODS[i] == 0:
                chosen = [j for j in candidates(SEED, i, k, near, t) if not message_lost(SEED, j, i, k, loss)]
                for coordinate in range(N):
                    values = [float(models[j, coordinate]) for j in chosen if coordinate in supports[j]]
                    if float32:
                        values = [float(np.float32(value)) for value in values]
                    if values:
                        v[coordinate] = sum(values) / len(values)
            divisor = sigma * t if isinstance(step, PenaltyStep) else sigma
            following[i] = v - slow_gradient(problem, i, v, k, size) / divisor
        sigma *= step.gamma
        models = following
        history.append(models.copy())
    return history


@pytest.mark.parametrize(
    "step", [PenaltyStep(sigma0=4.0, gamma=1.01), FixedStep(eta=0.1, gamma=1.01)], ids=lambda s: s.kind
)
@pytest.mark.parametrize(
    ("size", "float32", "loss"),
    [(None, False, 0.0), (7, False, 0.0), (None, True, 0.0), (None, False, 0.4)],
    ids=["full batch", "mini-batch", "float32", "lost messages"],
)
def test_thirty_iterations_equal_the_algorithm_written_out(
    size: int | None, float32: bool, loss: float, step: Step
) -> None:
    problem = problem_of(size)
    expected = slow_pame(problem, size, step, float32, loss)
    setting = ResolvedRun(
        seed=SEED,
        topology=graph(),
        problem=problem,
        algorithm=PameSpec(participation=float(NU), support=S, step=step),
        periods=PERIODS,
        stop=StopRules(ITERATIONS),
        messages=Messages(values="float32" if float32 else "float64", loss=loss),
    )
    lost: Callable[[int, int, int], bool] = lambda j, i, k: message_lost(SEED, j, i, k, loss)  # noqa: E731
    history = drive(setting.nodes(), ITERATIONS, lost)
    assert np.abs(expected[-1]).max() > 0.1
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(history[k], expected[k], rtol=0.0, atol=1e-12)
    outcome = run_lock_step(setting, Watcher(), ledger := ByteAccount(NODES))
    assert np.array_equal(outcome.models, history[-1])
    assert outcome.exact == (loss == 0.0)
    assert (ledger.messages(Fate.LOST) > 0) == (loss > 0.0)


def node_of(step: Step, slope: Vector, start: Vector, share: float = 0.5, node: int = 0) -> Pame:
    """A node of the small graph on its own; node 0 has five neighbours, so t = 3 at one half."""
    selection = Selection(1, graph(), (1,) * NODES, share)
    spec = PameSpec(participation=share, support=2, step=step)
    return spec.node(Context(1, node, graph(), selection, Constant(slope), start))


def received(sender: int, model: list[float], coordinates: list[int]) -> Received:
    return Received(sender, 0, {"w": reveal(np.array(model), np.array(coordinates))}, 0)


def test_a_starved_node_keeps_its_model_and_divides_by_the_nominal_participation() -> None:
    node = node_of(PenaltyStep(sigma0=2.0, gamma=1.0), np.array([6.0, -12.0]), np.array([1.0, 2.0]))
    assert node.absorb(0, []) == 0.0
    assert node.model.tolist() == [1.0, 2.0]
    node.step(0)
    np.testing.assert_allclose(node.model, [1.0 - 6.0 / (2 * 3), 2.0 + 12.0 / (2 * 3)], rtol=1e-15)


def test_with_fewer_messages_than_wanted_the_step_still_divides_by_the_nominal_participation() -> None:
    node = node_of(PenaltyStep(sigma0=2.0, gamma=1.0), np.array([6.0, 6.0]), np.array([1.0, 2.0]))
    assert node.absorb(0, [received(3, [9.0, 9.0], [0])]) == 0.5  # one of two coordinates covered once
    node.step(0)
    np.testing.assert_allclose(node.model, [9.0 - 1.0, 2.0 - 1.0], rtol=1e-15)


def test_what_was_absorbed_is_used_for_one_step_only() -> None:
    node = node_of(FixedStep(eta=1.0, gamma=1.0), np.array([0.5, 0.5]), np.zeros(2))
    node.absorb(0, [received(3, [8.0, 8.0], [0, 1])])
    node.step(0)
    assert node.model.tolist() == [7.5, 7.5]
    node.step(1)
    assert node.model.tolist() == [7.0, 7.0]


def test_the_gradient_is_taken_at_the_average_and_on_the_batch_of_the_iteration() -> None:
    asked: list[tuple[list[float], int]] = []

    class Spy(Constant):
        def gradient(self, model: Vector, iteration: int) -> Vector:
            asked.append((model.tolist(), iteration))
            return np.zeros_like(model)

    selection = Selection(1, graph(), (1,) * NODES, 0.5)
    node = PameSpec(support=1).node(Context(1, 0, graph(), selection, Spy(np.zeros(2)), np.array([1.0, 2.0])))
    node.absorb(4, [received(1, [5.0, 0.0], [0]), received(2, [7.0, 0.0], [0])])
    node.step(4)
    assert asked == [([6.0, 2.0], 4)]


def test_the_order_in_which_messages_are_handed_over_does_not_matter() -> None:
    messages = [received(1, [1e16, 0.1], [0, 1]), received(2, [1.0, 0.2], [0, 1]), received(5, [-1e16, 0.3], [0, 1])]
    results = []
    for order in (messages, messages[::-1], [messages[1], messages[2], messages[0]]):
        node = node_of(FixedStep(), np.zeros(2), np.zeros(2))
        node.absorb(0, order)
        node.step(0)
        results.append(node.model.tobytes())
    assert len(set(results)) == 1


def test_the_coverage_reported_is_the_mean_over_the_coordinates() -> None:
    node = node_of(FixedStep(), np.zeros(4), np.zeros(4))
    messages = [received(1, [0.0] * 4, [0, 3]), received(2, [0.0] * 4, [2, 3]), received(3, [0.0] * 4, [2, 3])]
    assert node.absorb(0, messages) == 6 / 4


def test_at_the_start_every_revealed_value_is_a_star() -> None:
    message = node_of(FixedStep(), np.zeros(5), np.zeros(5)).message(0)["w"]
    assert str(message).count("★") == 2
    assert str(message).count("·") == 3


def test_a_step_does_not_change_a_message_that_is_under_way() -> None:
    node = node_of(FixedStep(eta=1.0), np.ones(3), np.full(3, 4.0))
    before = node.message(0)
    node.step(0)
    assert str(before["w"]).count("4") == 2


def test_a_whole_model_is_refused_where_a_partial_message_is_expected() -> None:
    node = node_of(FixedStep(), np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError, match="partial message"):
        node.absorb(0, [Received(1, 0, {"w": np.zeros(2)}, 0)])


def test_a_support_larger_than_the_model_is_refused_with_the_fix() -> None:
    with pytest.raises(ParameterError, match="give at most 10"):
        PameSpec(support=11).support_size(10)
