"""How runs under the clock end: what the result is, and whether it may be called exact."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from pame.byte_account import Fate
from pame.links import LinkSpec
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Messages, Mode
from pame.stopping import PaperRule, StopRules
from tests.pame.simulator.harness import PAME, all_pairs, run, same_bits, world

JITTERY = {"link": LinkSpec(0.01, 0.009), "compute": Compute(jitter=0.9)}


def test_in_rounds_a_node_stops_stepping_at_its_last_iteration() -> None:
    found = run("virtual-time", replace(world(iterations=12), **JITTERY))  # type: ignore[arg-type]
    assert {record.iteration for record in found.records} == set(range(12))
    assert len(found.records) == 8 * 12
    assert found.outcome.reason == "12 iterations done"


def test_in_free_nodes_go_on_in_overtime_but_their_result_is_that_of_the_last_iteration() -> None:
    found = run("virtual-time", replace(world(iterations=12), exchange=Exchange(mode="free"), **JITTERY))  # type: ignore[arg-type]
    assert max(record.iteration for record in found.records) > 12
    assert found.outcome.iterations == 12
    assert all(same_bits(found.outcome.models[i], found.log.models[i, 12]) for i in range(8))


def test_a_target_makes_the_models_of_that_iteration_the_result() -> None:
    setting = world(iterations=40)
    whole = run("lock-step", setting)
    curve = whole.curve("iteration")
    assert curve[15].objective > curve[20].objective
    stop = StopRules(40, target=curve[20].objective)
    found = run("virtual-time", replace(setting, stop=stop, **JITTERY))  # type: ignore[arg-type]
    assert found.outcome.iterations == 20
    assert "target" in found.outcome.reason
    assert same_bits(found.outcome.models, np.stack([whole.log.models[i, 20] for i in range(8)]))
    assert max(k for _, k in found.log.models) > 20  # some nodes were ahead


def test_the_papers_rule_makes_the_models_of_that_iteration_the_result() -> None:
    setting = world(iterations=60)
    stop = StopRules(60, paper=PaperRule(0.1, every=4))
    expected = run("lock-step", replace(setting, stop=stop))
    found = run("virtual-time", replace(setting, stop=stop, **JITTERY))  # type: ignore[arg-type]
    assert found.outcome.iterations == expected.outcome.iterations < 60
    assert found.outcome.reason == expected.outcome.reason
    assert same_bits(found.outcome.models, expected.outcome.models)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_with_stragglers_a_run_ends_when_half_of_the_nodes_are_done(mode: Mode) -> None:
    """Five nodes, two slow: the third fast one to finish ends the run; the slow ones give what they have."""
    setting = world(all_pairs(5), (1,) * 5, iterations=20, algorithm=replace(PAME, participation=0.25))
    setting = replace(setting, exchange=Exchange(mode=mode, spare="all"), compute=Compute(jitter=0.5, stragglers=0.4))
    slow = setting.compute.slow_nodes(setting.seed, 5)
    found = run("virtual-time", setting)
    newest = [max(k for i, k in found.log.models if i == node) for node in range(5)]
    assert "median" in found.outcome.reason
    assert sum(k >= 20 for k in newest) == 3
    assert all(newest[node] < 20 for node in slow)
    for node, k in enumerate(newest):
        assert same_bits(found.outcome.models[node], found.log.models[node, min(k, 20)])
    last = found.evaluations[-1]
    assert last.by == "time"
    assert last.objective == setting.problem.objective(found.outcome.models.mean(axis=0))
    assert last.seconds == found.outcome.seconds


def test_lost_messages_hold_nobody_up_so_every_node_does_all_its_iterations() -> None:
    found = run(
        "virtual-time", replace(world(iterations=20), messages=Messages(loss=0.3), exchange=Exchange(patience_s=0.5))
    )
    assert all(max(k for i, k in found.log.models if i == node) == 20 for node in range(8))
    assert found.outcome.reason == "20 iterations done"


def test_with_faults_a_target_is_looked_for_on_the_curve_by_time() -> None:
    setting = replace(world(iterations=40), exchange=Exchange(spare="all"), compute=Compute(stragglers=0.2))
    whole = run("virtual-time", setting)
    curve = whole.curve("time")
    target = curve[20].objective
    assert curve[15].objective > target
    found = run("virtual-time", replace(setting, stop=StopRules(40, target=target)))
    assert "target" in found.outcome.reason
    assert found.outcome.iterations == 20
    assert found.outcome.seconds == curve[20].seconds
    assert setting.problem.objective(found.outcome.models.mean(axis=0)) == target


def test_with_faults_the_papers_rule_looks_at_the_curve_by_time_alone() -> None:
    setting = replace(world(iterations=80), compute=Compute(stragglers=0.2, slowdown=3.0))
    f = {k: point.objective for k, point in run("virtual-time", setting).curve("time").items()}
    expected = next(k for k in range(10, 80, 5) if float(np.std([f[k - 10], f[k - 5], f[k]])) < 0.1)
    assert expected > 10
    found = run("virtual-time", replace(setting, stop=StopRules(80, paper=PaperRule(0.1, every=5))))
    assert "standard deviation" in found.outcome.reason
    assert found.outcome.iterations == expected
    assert found.evaluations[-1].by == "time"


def test_a_target_that_is_met_at_the_start_ends_the_run_there() -> None:
    for changes in ({}, {"compute": Compute(stragglers=0.2)}):
        found = run("virtual-time", replace(world(), stop=StopRules(20, target=1e9), **changes))  # type: ignore[arg-type]
        assert (found.outcome.iterations, found.outcome.seconds) == (0, 0.0)
        assert not found.outcome.models.any()


@pytest.mark.parametrize(
    ("changes", "exact"),
    [
        ({}, True),
        ({"compute": Compute(stragglers=0.2)}, True),
        ({"exchange": Exchange(max_lag=1)}, True),
        ({"exchange": Exchange(patience_s="adaptive")}, True),
        ({"exchange": Exchange(spare=1)}, False),  # somebody is late
        ({"exchange": Exchange(mode="free")}, False),
        ({"messages": Messages(loss=0.1), "exchange": Exchange(patience_s=0.5)}, False),
        ({"exchange": Exchange(patience_s=0.005)}, False),  # shorter than the delay
    ],
)
def test_a_run_is_called_exact_only_if_nothing_was_lost_late_starved_or_given_up(
    changes: dict[str, object], exact: bool
) -> None:
    found = run("virtual-time", replace(world(), link=LinkSpec(0.01, 0.002), **changes))  # type: ignore[arg-type]
    assert found.outcome.exact is exact


def test_a_flooded_mailbox_makes_a_run_inexact() -> None:
    """Node 0 listens only at the start and runs ahead, node 1 listens always and is slow: while it takes its first step
    99 messages come, its mailbox holds 64 of them, and nothing else goes wrong."""
    seed = next(seed for seed in range(50) if Compute(stragglers=0.5).slow_nodes(seed, 2) == {1})
    setting = world([(0, 1)], (1000, 1), iterations=100, seed=seed)
    for slowdown, evicted in ((1.3, 0), (1e4, 35)):
        found = run("virtual-time", replace(setting, compute=Compute(stragglers=0.5, slowdown=slowdown)))
        assert found.account.messages(Fate.LATE) == found.account.starved == 0
        assert found.account.messages(Fate.EVICTED) == evicted
        assert found.outcome.exact is (evicted == 0)


def mostly_slow(stop: StopRules) -> ResolvedRun:
    """Ten nodes in `free`, six of them ten times slower than 0.01 s an iteration."""
    setting = replace(world(all_pairs(10), (1,) * 10), exchange=Exchange(mode="free"), stop=stop)
    return replace(setting, compute=Compute(stragglers=0.6))


def test_overtime_of_a_few_does_not_end_a_run_while_most_are_far_behind() -> None:
    """The fast four are done at 0.2 s; the run ends at 2 s when the first slow one is, with 5 x 20 + 5 x 19 steps."""
    found = run("virtual-time", mostly_slow(StopRules(20)))
    assert found.outcome.reason == "the median node did 20 iterations"
    assert found.outcome.seconds == pytest.approx(2.0)
    assert found.outcome.iterations == 19
    assert max(record.iteration for record in found.records) > 150


def test_overtime_does_not_count_as_iterations_when_the_time_is_over() -> None:
    """After 1.05 s four nodes have done their 20 iterations and 85 more, and six have done 10: 14 on average."""
    found = run("virtual-time", mostly_slow(StopRules(20, seconds=1.05)))
    assert "seconds" in found.outcome.reason
    assert found.outcome.iterations == 14


def test_overtime_does_not_advance_the_curve_by_time() -> None:
    """Without faults, too: the mean iteration at a point is that of the steps up to the last iteration."""
    setting = replace(world(iterations=20), exchange=Exchange(mode="free"), compute=Compute(jitter=0.9))
    found = run("virtual-time", setting)
    assert found.outcome.reason == "20 iterations done"
    assert len([record for record in found.records if record.iteration >= 20]) > 0
    for point in found.curve("time").values():
        assert point.seconds is not None
        done = [r for r in found.records if r.iteration < 20 and r.seconds is not None and r.seconds <= point.seconds]
        assert len(done) == 8 * point.iteration


def test_no_iteration_has_two_points_on_the_curve_by_time() -> None:
    setting = replace(mostly_slow(StopRules(20)), evaluate_every=2)
    points = [point.iteration for point in run("virtual-time", setting).evaluations if point.by == "time"]
    assert points == sorted(set(points))


def test_overtime_does_not_feed_the_papers_rule() -> None:
    found = run("virtual-time", mostly_slow(StopRules(20, paper=PaperRule(1e-12, every=2))))
    assert found.outcome.reason == "the median node did 20 iterations"


def test_overtime_does_not_change_the_result_of_a_node_that_is_done_while_others_decide() -> None:
    setting = replace(world(all_pairs(5), (1,) * 5, iterations=20), exchange=Exchange(mode="free"))
    setting = replace(setting, compute=Compute(stragglers=0.6, slowdown=1.5))
    found = run("virtual-time", setting)
    for node in set(range(5)) - setting.compute.slow_nodes(setting.seed, 5):
        assert (node, 22) in found.log.models
        assert same_bits(found.outcome.models[node], found.log.models[node, 20])


def test_both_curves_start_at_zero_and_have_the_points_that_are_due() -> None:
    found = run("virtual-time", replace(world(iterations=12), **JITTERY))  # type: ignore[arg-type]
    for by in ("iteration", "time"):
        points = [point for point in found.evaluations if point.by == by]
        assert [point.iteration for point in points] == [0, 5, 10, 12]
        times = [point.seconds for point in points if point.seconds is not None]
        assert times[0] == 0.0
        assert times == sorted(times)
    assert found.evaluations[-1].bytes == found.account.bytes(Fate.SENT)


def test_the_curve_by_time_shows_the_newest_model_of_every_node() -> None:
    """At the time of a point, the newest model of a node is that of the last iteration it has recorded."""
    setting = replace(world(iterations=20), **JITTERY)  # type: ignore[arg-type]
    found = run("virtual-time", setting)
    for point in found.curve("time").values():
        assert point.seconds is not None
        done = [0] * 8
        for record in found.records:
            assert record.seconds is not None
            if record.seconds <= point.seconds:
                done[record.node] = max(done[record.node], record.iteration + 1)
        assert sum(done) == 8 * point.iteration
        models = np.stack([found.log.models[i, k] for i, k in enumerate(done)])
        assert point.objective == setting.problem.objective(models.mean(axis=0))
