"""D-PSGD with fewer neighbours: each node's own draw, or only edges that both ends have drawn."""

from typing import Literal

import numpy as np
import pytest

from pame.algorithms import Context, DpsgdSpec, Selection
from pame.byte_account import ByteAccount, Fate
from pame.problems.base import Matrix
from pame.rules import Messages
from pame.simulator import run_lock_step
from tests.pame.algorithms.harness import EDGES, Constant, Watcher, drive, graph
from tests.pame.algorithms.oracle import (
    EVERY_SCHEDULE,
    ITERATIONS,
    NODES,
    SEED,
    N,
    active_edges,
    check,
    drawn,
    gradients,
    problem_of,
    q_at,
    q_of,
    setting_of,
    worst,
)

Draw = Literal["directed", "mutual", "shared"]


def drawn_rows(k: int, periods: tuple[int, ...], participation: float) -> Matrix:
    """Row i: the metropolis weights of whom i has drawn, if it is at a round."""
    full = q_at(0, (1,) * NODES, 1.0)
    weights = np.zeros((NODES, NODES))
    for i in range(NODES):
        if k % periods[i] == 0:
            for j in drawn(i, k, participation):
                weights[i, j] = full[i, j]
    return q_of(weights)


@EVERY_SCHEDULE
@pytest.mark.parametrize("draw", ["mutual", "directed"])
def test_twenty_iterations_equal_the_matrix_form(periods: tuple[int, ...], participation: float, draw: Draw) -> None:
    problem = problem_of(7)
    models = np.zeros((NODES, N))
    history = [models]
    for k in range(ITERATIONS):
        p = q_at(k, periods, participation) if draw == "mutual" else drawn_rows(k, periods, participation)
        models = p @ models - 0.5 * gradients(problem, models, k)
        history.append(models)
    check(setting_of(DpsgdSpec(eta=0.5, participation=participation, draw=draw), problem, periods), history)


@pytest.mark.parametrize(("draw", "keeps"), [("mutual", True), ("shared", True), ("directed", False)])
def test_mixing_keeps_the_mean_if_both_ends_agree_on_edges_and_else_does_not(draw: Draw, keeps: bool) -> None:
    spec = DpsgdSpec(participation=0.5, draw=draw)
    start = np.arange(12.0).reshape(NODES, 2) ** 2
    selection = Selection(SEED, graph(), (1,) * NODES, spec.share, who=spec.who)
    still = Constant(np.zeros(2))
    history = drive([spec.node(Context(SEED, i, graph(), selection, still, start[i])) for i in range(NODES)], 300)
    off = np.abs(history[-1].mean(axis=0) - start.mean(axis=0)).max()
    assert (off < 1e-11) == keeps
    assert np.ptp(history[-1], axis=0).max() < 1e-4


def test_mutual_edges_carry_a_message_each_way_and_no_other_is_sent() -> None:
    ledger = ByteAccount(NODES)
    spec = DpsgdSpec(participation=0.5, draw="mutual")
    run_lock_step(setting_of(spec, problem_of()), Watcher(), ledger)
    edges = sum(len(active_edges(k, (1,) * NODES, 0.5)) for k in range(ITERATIONS))
    assert 0 < edges < 0.7 * ITERATIONS * len(EDGES)
    assert ledger.messages(Fate.SENT) == 2 * edges


def test_ten_per_cent_loss_barely_moves_it_with_fewer_neighbours_too() -> None:
    problem, spec = problem_of(), DpsgdSpec(eta=0.05, participation=0.5, draw="mutual")
    without, own = (worst(setting_of(spec, problem, messages=Messages(loss=loss)), 400) for loss in (0.0, 0.1))
    naive = worst(
        setting_of(
            DpsgdSpec(eta=0.05, participation=0.5, draw="mutual", on_loss="naive"), problem, messages=Messages(loss=0.1)
        ),
        400,
    )
    assert own < 1.5 * without
    assert naive > 5 * without
