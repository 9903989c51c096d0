"""What runs algorithms in the tests: a driver that follows the interface by the letter, the simulators, measures."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from pame.algorithms import Algorithm, Delivery, Message, Received
from pame.byte_account import ByteAccount
from pame.observe import RunOutcome
from pame.problems import known_optimum
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from pame.simulator import DRIVERS
from tests.harness import Watcher

Kind = TypeVar("Kind")


def drive(
    nodes: Sequence[Algorithm],
    iterations: int,
    lost: Callable[[int, int, int], bool] = lambda _j, _i, _k: False,
    said: dict[tuple[int, int], Message] | None = None,
) -> list[Matrix]:
    """All nodes in lock step, in the order of calls that the interface prescribes; the models before each iteration.

    `said`: takes the messages, by sender and iteration.
    """
    history = [np.stack([node.model for node in nodes])]
    inboxes: list[list[Received]] = [[] for _ in nodes]
    for k in range(iterations):
        for node in nodes:
            node.prepare(k)
        for sender, node in enumerate(nodes):
            receivers = node.receivers(k)
            message = node.message(k) if receivers else {}
            if said is not None and receivers:
                said[sender, k] = message
            for receiver in receivers:
                if not lost(sender, receiver, k):
                    inboxes[receiver].append(Received(sender, k, message, 0))
        for i, node in enumerate(nodes):
            in_order = node.delivery is Delivery.IN_ORDER
            if node.wanted(k) is not None:
                node.absorb(k, inboxes[i] if in_order else inboxes[i][::-1])
                inboxes[i] = []
            else:
                assert in_order or not inboxes[i]
        for node in nodes:
            node.step(k)
        history.append(np.stack([node.model for node in nodes]))
    return history


def driven(setting: ResolvedRun, nodes: Sequence[Algorithm] | None = None) -> list[Matrix]:
    return drive(setting.nodes() if nodes is None else nodes, setting.stop.last_iteration, setting.conditions.is_lost)


def all_of(kind: type[Kind], nodes: Sequence[Algorithm]) -> list[Kind]:
    """The nodes, which are all of this kind."""
    found: list[Kind] = []
    for node in nodes:
        assert isinstance(node, kind)
        found.append(node)
    return found


def simulated(setting: ResolvedRun, driver: str = "lock-step") -> tuple[RunOutcome, ByteAccount]:
    account = ByteAccount(setting.topology.nodes)
    return DRIVERS[driver](setting, Watcher(), account), account


def gradients(setting: ResolvedRun, models: Matrix, k: int) -> Matrix:
    """Row i is node i's gradient at row i of the models."""
    return np.stack([setting.problem.local(i).gradient(model, k) for i, model in enumerate(models)])


def suboptimality(setting: ResolvedRun, models: Matrix) -> float:
    """f(mean model) - f*, over the same at w = 0."""
    problem = setting.problem
    best = known_optimum(problem).objective
    return (problem.objective(models.mean(axis=0)) - best) / (problem.objective(np.zeros(problem.n)) - best)


def worst(setting: ResolvedRun, models: Matrix) -> float:
    """The same of the node that is farthest from the optimum."""
    return max(suboptimality(setting, model[np.newaxis]) for model in models)


def distance(setting: ResolvedRun, models: Matrix) -> float:
    """How far the models are from the optimum, over how far it is from 0."""
    best = known_optimum(setting.problem).model
    return float(np.linalg.norm(models - best) / np.linalg.norm(np.tile(best, (len(models), 1))))
