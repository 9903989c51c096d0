"""DCD-PSGD against its equations in matrix form, the exactness of its replicas, its noise ball, and lost messages."""

from dataclasses import replace

import numpy as np
import pytest

from pame.algorithms import DcdPsgdSpec
from pame.compressors import Quantize, RandomK
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from tests.pame.algorithms.replica_oracle import (
    ITERATIONS,
    LOSSES,
    NEIGHBOURS,
    NODES,
    SCHEDULES,
    Gossip,
    N,
    distance,
    driven,
    gradients,
    nodes_of,
    setting_of,
    simulated,
    suboptimality,
    with_loss,
)

SPEC = DcdPsgdSpec(eta=0.05)


def slow_dcd_psgd(setting: ResolvedRun, spec: DcdPsgdSpec) -> list[Matrix]:
    """The pull of iteration k is over what was known before it."""
    gossip = Gossip(setting, spec)
    models = np.zeros((NODES, N))
    history = [models]
    for k in range(setting.stop.last_iteration):
        stepped = models - spec.eta / spec.gamma**k * gradients(setting, models, k)
        gossip.exchange(k, stepped + gossip.pull(k))
        moved = [gossip.is_round(i, k) for i in range(NODES)]
        models = np.where(np.array(moved)[:, None], gossip.own, stepped)
        history.append(models)
    return history


def check(spec: DcdPsgdSpec, periods: tuple[int, ...], loss: float = 0.0, batch: int | None = None) -> None:
    setting = setting_of(spec, periods, loss, batch=batch)
    expected, found = slow_dcd_psgd(setting, spec), driven(setting)
    assert np.abs(expected[-1]).max() > 0.1
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(found[k], expected[k], rtol=0.0, atol=1e-10)
    assert np.array_equal(simulated(setting)[0].models, found[-1])


@pytest.mark.parametrize(("periods", "participation"), SCHEDULES)
def test_twenty_iterations_equal_the_matrix_form(periods: tuple[int, ...], participation: float) -> None:
    check(replace(SPEC, participation=participation), periods)


def test_another_compressor_and_mini_batches_equal_the_matrix_form() -> None:
    check(replace(SPEC, gamma=1.01, compressor=RandomK(share=0.8, unbiased=True)), (1,) * 6, batch=9)


@pytest.mark.parametrize(("on_loss", "periods"), LOSSES)
def test_lost_messages_equal_the_matrix_form(on_loss: str, periods: tuple[int, ...]) -> None:
    spec = with_loss(SPEC, on_loss, resync_every=3)
    assert isinstance(spec, DcdPsgdSpec)
    check(spec, periods, loss=0.2)


def test_every_replica_is_the_model_itself() -> None:
    setting = setting_of(replace(SPEC, compressor=Quantize(bits=4)))
    nodes = nodes_of(setting)
    driven(setting, nodes)
    for i, node in enumerate(nodes):
        for j in NEIGHBOURS[i]:
            assert np.array_equal(node.replicas.others("x")[j], nodes[j].model)


def test_it_ends_in_a_ball_around_the_optimum_that_shrinks_with_the_step() -> None:
    far, near = (setting_of(DcdPsgdSpec(eta=eta), iterations=n) for eta, n in ((0.05, 400), (0.0125, 1600)))
    distances = [distance(setting, simulated(setting)[0].models) for setting in (far, near)]
    assert distances[0] < 0.05
    assert distances[1] < 0.5 * distances[0]


@pytest.mark.parametrize("on_loss", ["acknowledged", "resync"])
def test_a_tenth_of_the_messages_lost_costs_little_and_everything_if_replicas_go_wrong(on_loss: str) -> None:
    without = setting_of(with_loss(SPEC, on_loss), iterations=300)
    right = setting_of(with_loss(SPEC, on_loss), loss=0.1, iterations=300)
    naive = setting_of(with_loss(SPEC, "naive"), loss=0.1, iterations=300)
    reached = suboptimality(without, simulated(without)[0].models)
    assert suboptimality(right, simulated(right)[0].models) < 1.6 * reached
    assert suboptimality(naive, simulated(naive)[0].models) > 1000 * reached
