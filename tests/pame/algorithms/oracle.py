"""What the reference tests of the algorithms share: six nodes on a small regression, and Q of every k as a matrix."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, lcm
from typing import Any

import numpy as np
import pytest

from pame.algorithms import Algorithm, AlgorithmSpec
from pame.byte_account import ByteAccount
from pame.links import LinkSpec
from pame.problems import LogisticSpec
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from pame.sampling import candidates, message_lost
from pame.simulator import run_lock_step, run_virtual_time
from pame.stopping import StopRules
from tests.pame.algorithms.harness import EDGES, Watcher, drive, graph, neighbours_in

SEED, NODES, N, ITERATIONS = 3, 6, 20, 20
DEGREES = (5, 2, 3, 2, 2, 2)
ALWAYS = (1,) * NODES
DIFFERENT = (1, 3, 2, 5, 2, 4)

EVERY_SCHEDULE = pytest.mark.parametrize(
    ("periods", "participation"),
    [(ALWAYS, 1.0), ((2,) * NODES, 1.0), (ALWAYS, 0.5), ((2,) * NODES, 0.5), (DIFFERENT, 0.5), (DIFFERENT, 1.0)],
    ids=lambda value: "".join(map(str, value)) if isinstance(value, tuple) else str(value),
)

Lost = Callable[[int, int, int], bool]


def problem_of(batch: int | None = None) -> Regression:
    """Strongly convex, and no two nodes have the same minimiser; all gradients are smooth with L = 1.1."""
    spec = LogisticSpec(
        n=N, samples=30, batch=batch, regularisation=0.2, feature_shift=0.5, truth_shift=1.0, test_samples=5
    )
    return spec.build(NODES, SEED)


def setting_of(
    spec: AlgorithmSpec, problem: Regression, periods: tuple[int, ...] = ALWAYS, **changes: Any
) -> ResolvedRun:
    setting = ResolvedRun(SEED, graph(), problem, spec, periods, StopRules(ITERATIONS))
    return replace(setting, **changes)


def gradients(problem: Regression, models: Matrix, k: int) -> Matrix:
    return np.stack([problem.local(i).gradient(models[i], k) for i in range(NODES)])


def full_gradients(problem: Regression, models: Matrix) -> Matrix:
    return np.stack([problem.local(i).full_gradient(models[i]) for i in range(NODES)])


def never(_sender: int, _receiver: int, _k: int) -> bool:
    return False


def lost_at(rate: float) -> Lost:
    return lambda sender, receiver, k: message_lost(SEED, sender, receiver, k, rate)


def drawn(node: int, k: int, participation: float) -> Sequence[int]:
    count = ceil(participation * DEGREES[node])
    return candidates(SEED, node, k, neighbours_in(EDGES, node), count)


def active_edges(k: int, periods: Sequence[int], participation: float) -> list[tuple[int, int]]:
    """Those of which both ends are at a round and have drawn each other."""
    return [
        (i, j)
        for i, j in EDGES
        if k % periods[i] == 0
        and k % periods[j] == 0
        and j in drawn(i, k, participation)
        and i in drawn(j, k, participation)
    ]


def rests(periods: Sequence[int], participation: float) -> Matrix:
    """How seldom the dual of an edge moves: both ends at a round, over the root of the odds that both are drawn."""
    drawn_share = np.array([ceil(participation * degree) / degree for degree in DEGREES])
    both_at_round = np.array([[lcm(one, other) for one in periods] for other in periods])
    rest: Matrix = both_at_round / np.sqrt(np.outer(drawn_share, drawn_share))
    return rest


def edge_weights(k: int, periods: Sequence[int], participation: float, either_way: Lost = never) -> Matrix:
    """Metropolis weights of the active edges over which nothing is lost either way; nothing on the diagonal."""
    weights = np.zeros((NODES, NODES))
    for i, j in active_edges(k, periods, participation):
        if not either_way(i, j, k) and not either_way(j, i, k):
            weights[i, j] = weights[j, i] = 1 / (1 + max(DEGREES[i], DEGREES[j]))
    return weights


def q_of(weights: Matrix) -> Matrix:
    """The rest of every row goes to the diagonal."""
    return weights + np.diag(1 - weights.sum(axis=1))


def q_at(k: int, periods: Sequence[int], participation: float) -> Matrix:
    return q_of(edge_weights(k, periods, participation))


def q_as_received(q: Matrix, k: int, lost: Lost, on_loss: str) -> Matrix:
    """What is lost goes to the receiver itself, or nowhere."""
    p = q.copy()
    for i in range(NODES):
        for j in range(NODES):
            if i != j and lost(j, i, k):
                p[i, i] += p[i, j] if on_loss == "self" else 0.0
                p[i, j] = 0.0
    return p


def check(setting: ResolvedRun, expected: Sequence[Matrix]) -> list[Algorithm]:
    """The node objects agree with the matrices at every k, and so do both simulators; the nodes at the end."""
    nodes = setting.nodes()
    history = drive(nodes, ITERATIONS, setting.is_lost)
    assert np.abs(expected[-1]).max() > 0.1
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(history[k], expected[k], rtol=0.0, atol=1e-10)
    lock_step = run_lock_step(setting, Watcher(), ByteAccount(NODES))
    assert lock_step.models.tobytes() == history[-1].tobytes()
    timed = replace(setting, link=LinkSpec(0.02, 0.019, 1e6))
    assert run_virtual_time(timed, Watcher(), ByteAccount(NODES)).models.tobytes() == history[-1].tobytes()
    return nodes


def worst(setting: ResolvedRun, iterations: int) -> float:
    """The relative suboptimality of the worst node's model."""
    return suboptimality(setting, drive(setting.nodes(), iterations, setting.is_lost)[-1])


def suboptimality(setting: ResolvedRun, models: Matrix) -> float:
    problem = setting.problem
    least = problem.optimum().objective
    return max(problem.objective(model) - least for model in models) / (problem.objective(np.zeros(N)) - least)
