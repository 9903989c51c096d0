"""Where the algorithms with replicas end at their default answer to lost messages: an edge that is down for long, and a
tenth of all messages on a graph of high degree, and messages that come too late."""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pytest

from pame.algorithms import ChocoSpec, DcdPsgdSpec, SquarmSpec
from pame.byte_account import Fate
from pame.fault_effects import CutEffect, FaultEvent, Window
from pame.links import LinkSpec
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange
from tests.pame.algorithms.builders import ANQ_NIDS, BEER, UNEQUAL, AnyReplicaSpec, graph, linear, setting_of, with_loss
from tests.pame.algorithms.harness import simulated, worst

pytestmark = pytest.mark.slow

HUB_TO_ONE = ((0, 1), (1, 0))
MANY = 12


class Case(NamedTuple):
    spec: AnyReplicaSpec
    iterations: int
    reached: float
    """How far from the optimum the worst node is then, over how far w = 0 is, if nothing is lost."""
    less: float
    """The same without the edge from the hub to node 1."""


every_algorithm = pytest.mark.parametrize(
    "case",
    [
        Case(ChocoSpec(eta=0.05), 300, 0.0025, 0.0048),
        Case(BEER, 600, 1e-11, 1e-8),
        Case(ANQ_NIDS, 400, 1e-14, 1e-14),
        Case(DcdPsgdSpec(eta=0.05), 300, 0.00016, 0.0004),
        Case(SquarmSpec(eta=0.01), 300, 0.0047, 0.0075),
    ],
    ids=lambda case: type(case.spec).__name__,
)


def without_an_edge(setting: ResolvedRun, window: Window) -> ResolvedRun:
    return replace(setting, plan=(FaultEvent(0, "cut", CutEffect(HUB_TO_ONE), window),))


def on_twelve(spec: AnyReplicaSpec, iterations: int, loss: float) -> ResolvedRun:
    """Twelve nodes, each with ten neighbours: all but the one opposite."""
    edges = [(i, j) for i in range(MANY) for j in range(i + 1, MANY) if j - i != MANY // 2]
    problem, periods = linear(nodes=MANY), (1,) * MANY
    return setting_of(spec, problem, periods, iterations, loss=loss, topology=graph(MANY, edges))


@every_algorithm
def test_an_edge_that_is_down_all_the_time_is_missed_and_silences_nobody(case: Case) -> None:
    calm = setting_of(case.spec, iterations=case.iterations)
    assert worst(calm, simulated(calm)[0].models) < 1.05 * case.reached
    cut = without_an_edge(calm, Window(0, case.iterations, "iterations"))
    outcome, account = simulated(cut)
    assert worst(cut, outcome.models) < 1.05 * case.less
    assert account.desynchronised == 0


@every_algorithm
def test_an_edge_that_was_down_for_long_is_used_again_and_nothing_of_it_is_left(case: Case) -> None:
    window = Window(50, case.iterations // 2, "iterations")
    cut = without_an_edge(setting_of(case.spec, iterations=case.iterations), window)
    outcome, account = simulated(cut)
    assert worst(cut, outcome.models) < max(1.05 * case.reached, 1e-10)
    assert account.desynchronised == 0


@every_algorithm
def test_with_ten_neighbours_a_tenth_of_the_messages_lost_costs_little(case: Case) -> None:
    calm, lossy = (on_twelve(case.spec, case.iterations, loss) for loss in (0.0, 0.1))
    without, (outcome, account) = simulated(calm)[0], simulated(lossy)
    assert account.messages(Fate.LOST) > 0
    assert worst(lossy, outcome.models) < max(1.5 * worst(calm, without.models), 1e-13)


@every_algorithm
@pytest.mark.parametrize("periods", [(1,) * 6, UNEQUAL])
def test_the_models_are_those_of_whole_vectors_at_every_round_for_far_fewer_bytes(
    case: Case, periods: tuple[int, ...]
) -> None:
    mended, whole = (
        setting_of(spec, periods=periods, loss=0.1, iterations=100)
        for spec in (with_loss(case.spec, "acknowledged"), with_loss(case.spec, "resync"))
    )
    (found, fewer), (expected, more) = simulated(mended), simulated(whole)
    assert np.array_equal(found.models, expected.models)
    assert fewer.bytes(Fate.SENT) < 0.4 * more.bytes(Fate.SENT)


exact_ones = pytest.mark.parametrize("spec", [BEER, ANQ_NIDS], ids=lambda spec: type(spec).__name__)


@exact_ones
@pytest.mark.parametrize("patience_s", [0.5, "adaptive"])
@pytest.mark.parametrize("every", [1, 3])
def test_a_link_that_was_down_by_the_clock_leaves_no_bias(
    spec: AnyReplicaSpec, patience_s: float | Literal["adaptive"], every: int
) -> None:
    mended = with_loss(spec, "resync" if every > 1 else "acknowledged", every)
    calm = setting_of(mended, iterations=900, exchange=Exchange(patience_s=patience_s))
    setting = without_an_edge(calm, Window(0.5, 1.5))
    outcome, account = simulated(setting, "virtual-time")
    assert worst(setting, outcome.models) < 1e-14
    assert account.desynchronised == 0


@exact_ones
def test_one_that_is_never_whole_again_does_not_either_and_is_counted(spec: AnyReplicaSpec) -> None:
    setting = without_an_edge(setting_of(spec, iterations=900, exchange=Exchange(patience_s=0.5)), Window(0.5))
    outcome, account = simulated(setting, "virtual-time")
    assert worst(setting, outcome.models) < 1e-10
    assert account.desynchronised > 1000


@exact_ones
def test_patience_that_is_too_short_for_the_links_costs_speed_and_not_the_optimum(spec: AnyReplicaSpec) -> None:
    slow = setting_of(
        spec,
        iterations=900,
        link=LinkSpec(0.02, 0.01),
        compute=Compute(jitter=0.5),
        exchange=Exchange(patience_s=0.025, exclude_after=50),
    )
    outcome, account = simulated(slow, "virtual-time")
    assert not outcome.exact
    assert worst(slow, outcome.models) < 1e-4
    assert account.desynchronised == 0
