"""What mixing must not change: the mean of the models, and sums that are zero (duals, trackers less gradients)."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from pame.algorithms import (
    Algorithm,
    AlgorithmSpec,
    ChocoSpec,
    DmgtSvrgSpec,
    DpsgdSpec,
    EpidemicSpec,
    NidsSpec,
)
from pame.algorithms.anq_nids import AnqNids
from pame.algorithms.beer import Beer
from pame.algorithms.dmgt_svrg import DmgtSvrg
from pame.algorithms.nids import Nids
from pame.compressors import TopK
from pame.problems.base import Matrix
from pame.problems.regression import Regression
from pame.resolved_run import ResolvedRun
from pame.rules import Values
from tests.pame.algorithms.builders import (
    ALWAYS,
    ANQ_NIDS,
    BEER,
    DIFFERENT,
    EDGES,
    NODES,
    UNEQUAL,
    AnyReplicaSpec,
    N,
    OnLoss,
    linear,
    logistic,
    setting_of,
    still_nodes,
    with_loss,
)
from tests.pame.algorithms.harness import all_of, drive, driven, gradients, worst

STARTS = np.array([[3.0, -1.0], [10.0, 0.0], [-7.0, 5.0], [0.5, 2.0], [4.0, 4.0], [1.5, -4.0]])
MANY_STARTS = np.random.default_rng(1).normal(size=(NODES, N))
CHOCO = ChocoSpec(eta=0.05, gamma=1.01, gam=0.3, compressor=TopK(share=0.2))


@pytest.mark.parametrize(
    ("spec", "starts", "iterations", "apart"),
    [
        (DpsgdSpec(mixing="metropolis"), STARTS, 200, 1e-9),
        (DpsgdSpec(mixing="uniform"), STARTS, 200, 1e-9),
        (DpsgdSpec(participation=0.5, draw="mutual"), STARTS, 300, 1e-4),
        (DpsgdSpec(participation=0.5, draw="shared"), STARTS, 300, 1e-4),
        *((EpidemicSpec(sampling="oracle", fan_out=fan_out), STARTS, 60, 1e-9) for fan_out in (1, 2, 3, 4)),
        (CHOCO, MANY_STARTS, 300, 1e-6),
    ],
)
def test_mixing_alone_keeps_the_mean_and_ends_in_consensus(
    spec: AlgorithmSpec, starts: Matrix, iterations: int, apart: float
) -> None:
    history = drive(still_nodes(spec, starts), iterations)
    for models in history:
        np.testing.assert_allclose(models.mean(axis=0), starts.mean(axis=0), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(history[-1], np.tile(starts.mean(axis=0), (NODES, 1)), rtol=0.0, atol=apart)


def test_if_one_end_alone_draws_an_edge_there_is_consensus_elsewhere() -> None:
    last = drive(still_nodes(DpsgdSpec(participation=0.5, draw="directed"), STARTS), 300)[-1]
    assert np.abs(last.mean(axis=0) - STARTS.mean(axis=0)).max() > 1e-3
    assert np.ptp(last, axis=0).max() < 1e-4


def test_under_loss_the_weight_to_itself_keeps_a_consensus_and_the_naive_sum_shrinks_it() -> None:
    agreed = np.tile([2.0, -3.0], (NODES, 1))
    kept, shrunk = (
        drive(still_nodes(spec, agreed), 20, lambda j, _i, k: (j + k) % 3 == 0)[-1]
        for spec in (DpsgdSpec(), DpsgdSpec(on_loss="naive"))
    )
    np.testing.assert_allclose(kept, agreed, rtol=1e-14)
    assert np.all(np.abs(shrunk) < 0.1 * np.abs(agreed))


def imbalance(duals: list[Matrix]) -> float:
    """The largest coordinate of their sum, beside the largest dual."""
    return float(np.abs(np.sum(duals, axis=0)).max() / np.abs(duals).max())


def dual_sum(nodes: list[Algorithm], _k: int) -> float:
    return imbalance([node.dual for node in all_of(Nids, nodes)])


def drift(nodes: list[Algorithm], k: int) -> float:
    """How far the mean tracker is from the mean gradient estimate, beside the largest tracker."""
    ours = all_of(DmgtSvrg, nodes)
    for node in ours:
        node.prepare(k)
    off = np.mean([node.tracker for node in ours], axis=0) - np.mean([node.estimate for node in ours], axis=0)
    return float(np.abs(off).max() / np.abs([node.tracker for node in ours]).max())


Sum = Callable[[list[Algorithm], int], float]
BOTH = pytest.mark.parametrize(
    ("spec", "problem", "off"),
    [(NidsSpec(eta=0.8), logistic(), dual_sum), (DmgtSvrgSpec(eta=0.2), logistic(10), drift)],
    ids=["nids", "dmgt-svrg"],
)


@BOTH
@pytest.mark.parametrize("values", get_args(Values))
@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_the_sum_is_zero_whatever_is_lost_and_however_values_are_rounded(
    spec: NidsSpec | DmgtSvrgSpec, problem: Regression, off: Sum, values: Values, loss: float
) -> None:
    half = replace(spec, participation=0.5)
    setting = setting_of(half, problem, DIFFERENT, 40, loss=loss, values=values)
    driven(setting, nodes := setting.nodes())
    assert off(nodes, 40) < 1e-13


@BOTH
def test_naively_dropping_a_message_at_one_end_leaves_a_sum_that_is_not_zero_and_is_counted(
    spec: NidsSpec | DmgtSvrgSpec, problem: Regression, off: Sum
) -> None:
    setting = setting_of(replace(spec, on_loss="naive"), problem, iterations=40, loss=0.1)
    driven(setting, nodes := setting.nodes())
    assert off(nodes, 40) > 1e-3
    lost = sum(setting.conditions.is_lost(i, j, k) for k in range(40) for edge in EDGES for i, j in (edge, edge[::-1]))
    assert sum(node.desynchronised for node in nodes) == lost > 0


@BOTH
def test_after_a_node_came_back_empty_all_reach_the_optimum_again(
    spec: AlgorithmSpec, problem: Regression, off: Sum
) -> None:
    setting = setting_of(spec, problem)
    selection, nodes = setting.selection(), setting.nodes()
    drive(nodes, 30)
    nodes[2] = setting.node(2, selection)
    assert off(nodes, 0) > 1e-3, "the others still hold their ends"
    for j in setting.topology.neighbours(2):
        nodes[j].greet(2)
    assert off(nodes, 0) < 1e-13
    assert worst(setting, drive(nodes, 300)[-1]) < 1e-8


def sum_of_compressed_duals(setting: ResolvedRun) -> float:
    driven(setting, nodes := setting.nodes())
    return imbalance([node.dual for node in all_of(AnqNids, nodes)])


def tracking_error(setting: ResolvedRun) -> float:
    """||mean(v) - mean(grad)|| after the run, over ||mean(grad)|| at the start."""
    models = driven(setting, nodes := setting.nodes())[-1]
    tracked = np.mean([node.tracker for node in all_of(Beer, nodes)], axis=0)
    mean = gradients(setting, models, setting.stop.last_iteration).mean(axis=0)
    start = gradients(setting, np.zeros((NODES, N)), 0).mean(axis=0)
    return float(np.linalg.norm(tracked - mean) / np.linalg.norm(start))


REPLICAS = pytest.mark.parametrize(
    ("spec", "off"), [(ANQ_NIDS, sum_of_compressed_duals), (BEER, tracking_error)], ids=["anq-nids", "beer"]
)


@REPLICAS
@pytest.mark.parametrize(
    ("on_loss", "every", "loss", "periods"),
    [
        ("acknowledged", 4, 0.0, ALWAYS),
        ("acknowledged", 4, 0.1, ALWAYS),
        ("acknowledged", 4, 0.1, UNEQUAL),
        ("resync", 1, 0.1, ALWAYS),
        ("resync", 1, 0.1, UNEQUAL),
        ("resync", 4, 0.1, ALWAYS),
        ("resync", 4, 0.1, UNEQUAL),
    ],
)
def test_compressed_messages_and_lost_ones_leave_the_sum_at_zero(
    spec: AnyReplicaSpec,
    off: Callable[[ResolvedRun], float],
    on_loss: OnLoss,
    every: int,
    loss: float,
    periods: tuple[int, ...],
) -> None:
    setting = setting_of(with_loss(spec, on_loss, every), periods=periods, iterations=60, loss=loss)
    assert off(setting) < 1e-13


@REPLICAS
def test_naive_updates_break_it(spec: AnyReplicaSpec, off: Callable[[ResolvedRun], float]) -> None:
    assert off(setting_of(with_loss(spec, "naive"), iterations=60, loss=0.1)) > 0.01


@pytest.mark.parametrize("periods", [ALWAYS, (2,) * NODES, UNEQUAL])
def test_on_mini_batches_the_mean_tracker_of_beer_is_the_mean_gradient(periods: tuple[int, ...]) -> None:
    assert tracking_error(setting_of(BEER, linear(9), periods, 37)) < 1e-13
