"""ANQ-NIDS against its equations in matrix form, its dual invariant, its way to the optimum, and lost messages."""

from dataclasses import replace

import numpy as np
import pytest

from pame.algorithms import Algorithm, AnqNids, AnqNidsSpec
from pame.byte_account import Fate
from pame.compressors import AdaptiveQuantizer
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from tests.pame.algorithms.replica_oracle import (
    ITERATIONS,
    LOSSES,
    NODES,
    SCHEDULES,
    Gossip,
    N,
    distance,
    driven,
    gradients,
    setting_of,
    simulated,
    suboptimality,
    with_loss,
    worst,
)

SPEC = AnqNidsSpec(eta=0.1, compressor=AdaptiveQuantizer(eta=0.01, shrink=0.97))


def slow_anq_nids(setting: ResolvedRun, spec: AnqNidsSpec) -> list[Matrix]:
    gossip = Gossip(setting, spec)
    models = duals = np.zeros((NODES, N))
    history = [models]
    for k in range(setting.stop.last_iteration):
        size = spec.eta / spec.gamma**k
        ahead = models - size * (gradients(setting, models, k) + duals)
        gossip.exchange(k, ahead)
        flows = 0.5 * spec.gam * gossip.matrix(k)[:, :, None] * -gossip.agreed
        duals = duals + spec.dual * (flows / gossip.often()[:, :, None]).sum(axis=1) / size
        models = ahead - flows.sum(axis=1)
        history.append(models)
    return history


def check(spec: AnqNidsSpec, periods: tuple[int, ...], loss: float = 0.0, batch: int | None = None) -> None:
    setting = setting_of(spec, periods, loss, batch=batch)
    expected, found = slow_anq_nids(setting, spec), driven(setting)
    assert np.abs(expected[-1]).max() > 0.1
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(found[k], expected[k], rtol=0.0, atol=1e-10)
    assert np.array_equal(simulated(setting)[0].models, found[-1])


@pytest.mark.parametrize(("periods", "participation"), SCHEDULES)
def test_twenty_iterations_equal_the_matrix_form(periods: tuple[int, ...], participation: float) -> None:
    check(replace(SPEC, participation=participation, dual=0.7), periods)


def test_another_consensus_step_and_mini_batches_equal_the_matrix_form() -> None:
    check(replace(SPEC, gam=0.5, gamma=1.01), (1,) * 6, batch=9)


@pytest.mark.parametrize(("on_loss", "periods"), LOSSES)
def test_lost_messages_equal_the_matrix_form(on_loss: str, periods: tuple[int, ...]) -> None:
    spec = with_loss(SPEC, on_loss, resync_every=3)
    assert isinstance(spec, AnqNidsSpec)
    check(spec, periods, loss=0.2)


def sum_of_duals(setting: ResolvedRun) -> float:
    nodes: list[Algorithm] = setting.nodes()
    driven(setting, nodes)
    duals = np.stack([node.dual for node in nodes if isinstance(node, AnqNids)])
    return float(np.abs(duals.sum(axis=0)).max() / np.abs(duals).max())


@pytest.mark.parametrize(
    ("on_loss", "loss", "periods"),
    [
        ("acknowledged", 0.0, (1,) * 6),
        ("acknowledged", 0.1, (1, 2, 3, 2, 1, 4)),
        ("resync", 0.1, (1,) * 6),
    ],
)
def test_the_duals_sum_to_zero(on_loss: str, loss: float, periods: tuple[int, ...]) -> None:
    assert sum_of_duals(setting_of(with_loss(SPEC, on_loss, 4), periods, loss, iterations=60)) < 1e-12


def test_naive_updates_leave_a_sum_of_duals_behind() -> None:
    assert sum_of_duals(setting_of(with_loss(SPEC, "naive"), loss=0.1, iterations=60)) > 0.01


def test_it_reaches_the_optimum_linearly_with_a_few_bits_per_coordinate() -> None:
    middle, end = (setting_of(SPEC, iterations=iterations) for iterations in (200, 400))
    distances = [distance(setting, simulated(setting)[0].models) for setting in (middle, end)]
    outcome, ledger = simulated(end)
    assert worst(end, outcome.models) < 1e-8
    assert distances[1] < 0.05 * distances[0]
    assert 8 * ledger.bytes(Fate.SENT) / ledger.messages(Fate.SENT) / N < 16


def test_an_error_that_does_not_shrink_keeps_it_from_the_optimum() -> None:
    coarse = setting_of(replace(SPEC, compressor=AdaptiveQuantizer(eta=0.01, shrink=1.0)), iterations=400)
    fine = setting_of(SPEC, iterations=400)
    assert distance(coarse, simulated(coarse)[0].models) > 100 * distance(fine, simulated(fine)[0].models)


@pytest.mark.parametrize("on_loss", ["acknowledged", "resync"])
def test_with_a_tenth_of_the_messages_lost_it_still_reaches_the_optimum_unless_replicas_go_wrong(on_loss: str) -> None:
    right = setting_of(with_loss(SPEC, on_loss), loss=0.1, iterations=400)
    naive = setting_of(with_loss(SPEC, "naive"), loss=0.1, iterations=400)
    assert worst(right, simulated(right)[0].models) < 1e-8
    assert suboptimality(naive, simulated(naive)[0].models) > 0.1
