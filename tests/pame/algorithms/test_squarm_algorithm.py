"""SQuARM-SGD against its equations in matrix form, its silence, its noise ball, and lost messages."""

from dataclasses import replace

import numpy as np
import pytest

from pame.algorithms import SquarmSpec
from pame.byte_account import Fate
from pame.compressors import CompressorSpec, Sign, TopK
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

SPEC = SquarmSpec(eta=0.01, momentum=0.8, threshold=300.0)


def slow_squarm(setting: ResolvedRun, spec: SquarmSpec) -> tuple[list[Matrix], set[bool]]:
    gossip = Gossip(setting, spec)
    models = velocities = np.zeros((NODES, N))
    history, spoken = [models], set()
    for k in range(setting.stop.last_iteration):
        size = spec.eta / spec.gamma**k
        slopes = gradients(setting, models, k)
        velocities = spec.momentum * velocities + slopes
        stepped = models - size * (spec.momentum * velocities + slopes)
        moved = np.square(stepped - gossip.own).sum(axis=1)
        speaks = moved > spec.threshold * (k + 1) ** spec.growth * size**2
        spoken |= {bool(speaks[i]) for i in range(NODES) if gossip.is_round(i, k)}
        gossip.exchange(k, stepped, lambda j, speaks=speaks: bool(speaks[j]))
        models = stepped + spec.gam * gossip.pull(k)
        history.append(models)
    return history, spoken


def check(spec: SquarmSpec, periods: tuple[int, ...], loss: float = 0.0, batch: int | None = None) -> None:
    setting = setting_of(spec, periods, loss, batch=batch)
    (expected, spoken), found = slow_squarm(setting, spec), driven(setting)
    assert spoken == {False, True}
    assert np.abs(expected[-1]).max() > 0.1
    for k in range(ITERATIONS + 1):
        np.testing.assert_allclose(found[k], expected[k], rtol=0.0, atol=1e-10)
    assert np.array_equal(simulated(setting)[0].models, found[-1])


@pytest.mark.parametrize(("periods", "participation"), SCHEDULES)
@pytest.mark.parametrize("compressor", [Sign(), TopK(share=0.2)])
def test_twenty_iterations_equal_the_matrix_form(
    periods: tuple[int, ...], participation: float, compressor: CompressorSpec
) -> None:
    check(replace(SPEC, participation=participation, compressor=compressor), periods)


def test_a_growing_threshold_and_mini_batches_equal_the_matrix_form() -> None:
    check(replace(SPEC, gamma=1.01, threshold=100.0, growth=0.5), (1,) * 6, batch=9)


@pytest.mark.parametrize(("on_loss", "periods"), LOSSES)
def test_lost_messages_equal_the_matrix_form(on_loss: str, periods: tuple[int, ...]) -> None:
    spec = with_loss(SPEC, on_loss, resync_every=3)
    assert isinstance(spec, SquarmSpec)
    check(spec, periods, loss=0.2)


def test_silence_is_a_message_of_its_own_and_not_taken_for_a_loss() -> None:
    setting = setting_of(replace(SPEC, threshold=1e12))
    nodes = nodes_of(setting)
    driven(setting, nodes)
    outcome, ledger = simulated(setting)
    assert ledger.messages(Fate.SENT) == ITERATIONS * sum(map(len, NEIGHBOURS))
    assert ledger.kinds.values == 0
    assert outcome.exact
    for node in nodes:
        assert node.message(0) == {}
        assert frozenset() in node.bundles
        assert node.desynchronised == 0


def test_a_higher_threshold_is_silent_more_often_and_never_speaks_below_it() -> None:
    loud, quiet = (setting_of(replace(SPEC, threshold=c), (2,) * 6, iterations=60) for c in (0.0, 1000.0))
    assert 0 < simulated(quiet)[1].bytes(Fate.SENT) < 0.8 * simulated(loud)[1].bytes(Fate.SENT)


def test_it_ends_in_a_ball_around_the_optimum_that_shrinks_with_the_step() -> None:
    far, near = (setting_of(SquarmSpec(eta=eta), iterations=n) for eta, n in ((0.01, 400), (0.0025, 1600)))
    distances = [distance(setting, simulated(setting)[0].models) for setting in (far, near)]
    assert distances[0] < 0.1
    assert distances[1] < 0.7 * distances[0]


@pytest.mark.parametrize("on_loss", ["acknowledged", "resync"])
def test_a_tenth_of_the_messages_lost_costs_little_unless_replicas_go_wrong(on_loss: str) -> None:
    spec = SquarmSpec(eta=0.01)
    without = setting_of(with_loss(spec, on_loss), iterations=300)
    right = setting_of(with_loss(spec, on_loss), loss=0.1, iterations=300)
    naive = setting_of(with_loss(spec, "naive"), loss=0.1, iterations=300)
    reached = suboptimality(without, simulated(without)[0].models)
    assert suboptimality(right, simulated(right)[0].models) < 1.3 * reached
    assert suboptimality(naive, simulated(naive)[0].models) > 5 * reached
