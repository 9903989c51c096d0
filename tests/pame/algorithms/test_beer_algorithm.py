"""BEER against its equations in matrix form, its tracking invariant, its way to the optimum, and lost messages."""

import numpy as np
import pytest

from pame.algorithms import Algorithm, Beer, BeerSpec
from pame.compressors import CompressorSpec, Quantize, RandomK, TopK
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

SPEC = BeerSpec(eta=0.05, gam=0.3, compressor=TopK(share=0.2))


def slow_beer(setting: ResolvedRun, spec: BeerSpec) -> list[Matrix]:
    """With v by the paper's recursion."""
    h, g = Gossip(setting, spec, 0), Gossip(setting, spec, 1)
    models = np.zeros((NODES, N))
    slopes = trackers = gradients(setting, models, 0)
    history = [models]
    for k in range(setting.stop.last_iteration):
        h.exchange(k, models)
        g.exchange(k, trackers)
        models = models + spec.gam * h.pull(k) - spec.eta / spec.gamma**k * trackers
        new = gradients(setting, models, k + 1)
        trackers = trackers + spec.gam * g.pull(k) + new - slopes
        slopes = new
        history.append(models)
    return history


def check(spec: BeerSpec, periods: tuple[int, ...], loss: float = 0.0, batch: int | None = None) -> None:
    setting = setting_of(spec, periods, loss, batch=batch)
    expected, found = slow_beer(setting, spec), driven(setting)
    assert np.abs(expected[-1]).max() > 0.1
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(found[k], expected[k], rtol=0.0, atol=1e-10)
    assert np.array_equal(simulated(setting)[0].models, found[-1])


@pytest.mark.parametrize(("periods", "participation"), SCHEDULES)
def test_twenty_iterations_equal_the_matrix_form(periods: tuple[int, ...], participation: float) -> None:
    check(BeerSpec(eta=0.05, gam=0.3, compressor=TopK(share=0.2), participation=participation), periods)


@pytest.mark.parametrize("compressor", [RandomK(share=0.2), Quantize(bits=4, unbiased=False)])
def test_other_compressors_and_mini_batches_equal_the_matrix_form(compressor: CompressorSpec) -> None:
    check(BeerSpec(eta=0.05, gamma=1.01, gam=0.1, compressor=compressor), (1,) * 6, batch=9)


@pytest.mark.parametrize(("on_loss", "periods"), LOSSES)
def test_lost_messages_equal_the_matrix_form(on_loss: str, periods: tuple[int, ...]) -> None:
    spec = with_loss(SPEC, on_loss, resync_every=3)
    assert isinstance(spec, BeerSpec)
    check(spec, periods, loss=0.2)


def tracking_error(setting: ResolvedRun) -> float:
    """||mean(v) - mean(grad)|| after the run, over ||mean(grad)|| at the start."""
    nodes: list[Algorithm] = setting.nodes()
    models = driven(setting, nodes)[-1]
    tracked = np.mean([node.tracker for node in nodes if isinstance(node, Beer)], axis=0)
    mean = gradients(setting, models, setting.stop.last_iteration).mean(axis=0)
    start = gradients(setting, np.zeros((NODES, N)), 0).mean(axis=0)
    return float(np.linalg.norm(tracked - mean) / np.linalg.norm(start))


@pytest.mark.parametrize("periods", [(1,) * 6, (2,) * 6, (1, 2, 3, 2, 1, 4)])
def test_the_mean_tracker_is_the_mean_gradient(periods: tuple[int, ...]) -> None:
    assert tracking_error(setting_of(SPEC, periods, iterations=37, batch=9)) < 1e-13


@pytest.mark.parametrize(("on_loss", "every"), [("acknowledged", 1), ("resync", 1), ("resync", 4)])
@pytest.mark.parametrize("periods", [(1,) * 6, (1, 2, 3, 2, 1, 4)])
def test_lost_messages_leave_the_mean_tracker_right(on_loss: str, every: int, periods: tuple[int, ...]) -> None:
    assert tracking_error(setting_of(with_loss(SPEC, on_loss, every), periods, 0.1, iterations=60)) < 1e-13


def test_naive_updates_break_the_mean_tracker() -> None:
    assert tracking_error(setting_of(with_loss(SPEC, "naive"), loss=0.1, iterations=60)) > 0.01


def test_it_reaches_the_optimum_linearly() -> None:
    middle, end = (setting_of(SPEC, iterations=iterations) for iterations in (300, 600))
    distances = [distance(setting, simulated(setting)[0].models) for setting in (middle, end)]
    assert worst(end, simulated(end)[0].models) < 1e-8
    assert distances[1] < 0.1 * distances[0]


@pytest.mark.parametrize("on_loss", ["acknowledged", "resync"])
def test_with_a_tenth_of_the_messages_lost_it_still_reaches_the_optimum_unless_replicas_go_wrong(on_loss: str) -> None:
    right = setting_of(with_loss(SPEC, on_loss), loss=0.1, iterations=900)
    naive = setting_of(with_loss(SPEC, "naive"), loss=0.1, iterations=900)
    assert worst(right, simulated(right)[0].models) < 1e-8
    assert suboptimality(naive, simulated(naive)[0].models) > 0.1
