"""Edges that are drawn once for both ends, and weights over the edges that take part."""

import numpy as np
import pytest

from pame.algorithms import AlgorithmSpec, BeerSpec, Context, DpsgdSpec, NidsSpec, PameSpec, Selection, Who
from pame.algorithms.mixing import Mixing
from pame.errors import ParameterError
from pame.simulator import check
from tests.pame.algorithms.builders import ALWAYS, DEGREES, DIFFERENT, EDGES, NODES, SEED, graph, logistic, setting_of
from tests.pame.algorithms.harness import simulated
from tests.pame.simulator.harness import same_bits


def selection(participation: float = 0.5, periods: tuple[int, ...] = ALWAYS, who: Who = Who.SHARED) -> Selection:
    return Selection(SEED, graph(), periods, participation, who=who)


@pytest.mark.parametrize("periods", [ALWAYS, DIFFERENT])
def test_both_ends_say_the_same_of_an_edge_and_only_at_rounds_of_both(periods: tuple[int, ...]) -> None:
    drawn = selection(periods=periods)
    for k in range(60):
        for i in range(NODES):
            for j in drawn.active(i, k):
                assert i in drawn.active(j, k)
                assert k % periods[i] == 0
                assert k % periods[j] == 0
                assert (min(i, j), max(i, j)) in EDGES


def test_an_edge_is_drawn_as_often_as_the_participation_of_its_ends_says() -> None:
    """4000 draws per edge: five standard deviations are at most 0.04; a false alarm in less than one of 10^5 seeds."""
    drawn, rounds = selection(), 4000
    for i, j in EDGES:
        share = (np.ceil(0.5 * DEGREES[i]) / DEGREES[i] + np.ceil(0.5 * DEGREES[j]) / DEGREES[j]) / 2
        seen = sum(j in drawn.active(i, k) for k in range(rounds)) / rounds
        assert seen == pytest.approx(share, abs=0.04)
        assert drawn.odds(i, j) == pytest.approx(share)


def test_with_full_participation_every_edge_takes_part() -> None:
    assert all(selection(1.0).active(i, 3) == graph().neighbours(i) for i in range(NODES))


def test_algorithms_with_replicas_speak_to_all_and_mix_over_the_drawn_edges() -> None:
    one, other = selection(who=Who.SHARED), selection(who=Who.BROADCAST_SHARED)
    assert all(one.active(i, k) == other.active(i, k) for i in range(NODES) for k in range(20))
    assert all(other.receivers(i, 4) == graph().neighbours(i) for i in range(NODES))


@pytest.mark.parametrize("who", [Who.SHARED, Who.MUTUAL])
def test_weights_over_the_active_edges_are_doubly_stochastic_and_know_only_them(who: Who) -> None:
    drawn, still = selection(who=who), logistic().local(0)
    rows = [Mixing(Context(SEED, i, graph(), drawn, still, np.zeros(2)), "active") for i in range(NODES)]
    for k in range(40):
        met = [len(drawn.active(i, k)) for i in range(NODES)]
        weights = np.zeros((NODES, NODES))
        for i, row in enumerate(rows):
            for j, weight in row.edges(k).items():
                weights[i, j] = weight
                assert weight == 1 / (1 + max(met[i], met[j]))
        assert np.array_equal(weights, weights.T)
        assert weights.sum(axis=1).max() < 1.0


@pytest.mark.parametrize(
    "spec",
    [
        PameSpec(participation=0.5, support=0.3, draw="shared"),
        PameSpec(participation=0.5, support=0.3, draw="mutual"),
        DpsgdSpec(eta=0.3, participation=0.5, draw="shared", mixing="active"),
        NidsSpec(eta=0.3, participation=0.5, draw="shared", mixing="active"),
        BeerSpec(eta=0.1, gam=0.3, participation=0.5, draw="shared", mixing="active"),
    ],
    ids=lambda spec: f"{spec.kind}-{spec.draw}",
)
def test_shared_edges_give_the_same_models_with_and_without_a_clock(spec: AlgorithmSpec) -> None:
    setting = setting_of(spec, logistic(), (2,) * NODES)
    (first, _), (second, _) = simulated(setting), simulated(setting, "virtual-time")
    assert same_bits(first.models, second.models)
    assert np.abs(first.models).max() > 0.01


def test_a_node_of_pame_with_no_edge_at_a_round_keeps_its_model_for_the_step() -> None:
    setting = setting_of(PameSpec(participation=0.2, support=0.5, draw="shared"), logistic())
    assert any(setting.selection().wanted(1, k) is not None and not setting.selection().active(1, k) for k in range(20))
    assert simulated(setting)[0].iterations == 20


def test_the_vectorised_driver_refuses_draws_it_does_not_know() -> None:
    with pytest.raises(ParameterError, match="draw: directed"):
        check("vectorised", setting_of(PameSpec(draw="shared"), logistic()))
