"""CHOCO-SGD against its equations in matrix form, its invariants, and what lost messages do to it."""

import numpy as np
import pytest

from pame.algorithms import ChocoSpec, Context, Selection
from pame.compressors import CompressorSpec, Quantize, RandomK, Sign, TopK
from pame.problems.base import Matrix
from pame.resolved_run import ResolvedRun
from tests.pame.algorithms.harness import Constant, drive, graph
from tests.pame.algorithms.replica_oracle import (
    ITERATIONS,
    LOSSES,
    NODES,
    SCHEDULES,
    SEED,
    Gossip,
    N,
    distance,
    driven,
    gradients,
    setting_of,
    simulated,
    suboptimality,
    with_loss,
)

SPEC = ChocoSpec(eta=0.05, gamma=1.01, gam=0.3, compressor=TopK(share=0.2))


def slow_choco(setting: ResolvedRun, spec: ChocoSpec) -> list[Matrix]:
    gossip = Gossip(setting, spec)
    models = np.zeros((NODES, N))
    history = [models]
    for k in range(setting.stop.last_iteration):
        stepped = models - spec.eta / spec.gamma**k * gradients(setting, models, k)
        gossip.exchange(k, stepped)
        models = stepped + spec.gam * gossip.pull(k)
        history.append(models)
    return history


def check(spec: ChocoSpec, periods: tuple[int, ...], loss: float = 0.0, batch: int | None = None) -> None:
    setting = setting_of(spec, periods, loss, batch=batch)
    expected, found = slow_choco(setting, spec), driven(setting)
    assert np.abs(expected[-1]).max() > 0.1
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(found[k], expected[k], rtol=0.0, atol=1e-10)
    assert np.array_equal(simulated(setting)[0].models, found[-1])


@pytest.mark.parametrize(("periods", "participation"), SCHEDULES)
def test_twenty_iterations_equal_the_matrix_form(periods: tuple[int, ...], participation: float) -> None:
    check(ChocoSpec(eta=0.05, gam=0.3, compressor=TopK(share=0.2), participation=participation), periods)


@pytest.mark.parametrize("compressor", [RandomK(share=0.2), Quantize(bits=4, unbiased=False), Sign()])
def test_other_compressors_and_mini_batches_equal_the_matrix_form(compressor: CompressorSpec) -> None:
    check(ChocoSpec(eta=0.05, gamma=1.01, gam=0.2, compressor=compressor), (1,) * 6, batch=9)


@pytest.mark.parametrize(("on_loss", "periods"), LOSSES)
def test_lost_messages_equal_the_matrix_form(on_loss: str, periods: tuple[int, ...]) -> None:
    spec = with_loss(SPEC, on_loss, resync_every=3)
    assert isinstance(spec, ChocoSpec)
    check(spec, periods, loss=0.2)


def test_gossip_alone_keeps_the_mean_and_ends_in_consensus() -> None:
    starts = np.random.default_rng(1).normal(size=(NODES, N))
    selection = Selection(SEED, graph(), (1,) * NODES, 1.0, who=SPEC.who)
    still = Constant(np.zeros(N))
    history = drive([SPEC.node(Context(SEED, i, graph(), selection, still, starts[i])) for i in range(NODES)], 300)
    for models in history:
        np.testing.assert_allclose(models.mean(axis=0), starts.mean(axis=0), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(history[-1], np.tile(starts.mean(axis=0), (NODES, 1)), rtol=0.0, atol=1e-6)


def test_it_ends_in_a_ball_around_the_optimum_that_shrinks_with_the_step() -> None:
    far, near = (setting_of(ChocoSpec(eta=eta), iterations=n) for eta, n in ((0.05, 400), (0.0125, 1600)))
    distances = [distance(setting, simulated(setting)[0].models) for setting in (far, near)]
    assert distances[0] < 0.05
    assert distances[1] < 0.5 * distances[0]


@pytest.mark.parametrize("on_loss", ["acknowledged", "resync"])
def test_a_tenth_of_the_messages_lost_costs_little_unless_replicas_go_wrong(on_loss: str) -> None:
    without = setting_of(with_loss(ChocoSpec(eta=0.05), on_loss), iterations=300)
    right = setting_of(with_loss(ChocoSpec(eta=0.05), on_loss), loss=0.1, iterations=300)
    naive = setting_of(with_loss(ChocoSpec(eta=0.05), "naive"), loss=0.1, iterations=300)
    reached = suboptimality(without, simulated(without)[0].models)
    assert suboptimality(right, simulated(right)[0].models) < 1.3 * reached
    assert suboptimality(naive, simulated(naive)[0].models) > 30 * reached
