"""Simulated time against hand calculations; waiting, patience and stragglers."""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import pytest

from pame.byte_account import Fate
from pame.links import LinkSpec
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Mode
from pame.sampling import candidates
from pame.stopping import NO_LIMIT, StopRules
from tests.pame.simulator.harness import DPSGD, PAME, Run, all_pairs, run, same_bits, world

DENSE_BITS = 8 * (1 + 24 * 8)
"""A D-PSGD message of the test problem: a flags byte and 24 doubles."""


def seconds(found: Run) -> float:
    assert found.outcome.seconds is not None
    return found.outcome.seconds


def test_two_nodes_take_transmission_delay_and_step_at_each_iteration() -> None:
    """0.1 s to put a message on the link, 0.05 s delay, 0.01 s step: 0.16 s an iteration."""
    setting = world([(0, 1)], (1, 1), iterations=10, algorithm=DPSGD)
    found = run("virtual-time", replace(setting, link=LinkSpec(0.05, 0.0, 10.0 * DENSE_BITS)))
    assert seconds(found) == pytest.approx(1.6)
    for record in found.records:
        assert record.waited_s == pytest.approx(0.15)
        assert record.seconds == pytest.approx(0.16 * (record.iteration + 1))


def test_a_path_of_three_with_different_periods_by_hand() -> None:
    """0 - 1 - 2, node 1 averages at even iterations only; 0.1 s delay, 0.02 s step. Starts of iterations:

    ends   0, .12, .24, .26, .48     they wait .1, .1, 0, .2: node 1 starts at 0, .12, .14, .36
    middle 0, .12, .14, .36, .38     it waits .1 at 0, and .2 at 2 for the ends, which start there at .24
    """
    setting = world([(0, 1), (1, 2)], (1, 2, 1), iterations=4, algorithm=DPSGD)
    found = run("virtual-time", replace(setting, link=LinkSpec(0.1), compute=Compute(0.02)))
    ends = {(r.node, r.iteration): r.seconds for r in found.records}
    waits = {(r.node, r.iteration): r.waited_s for r in found.records}
    for node, times, waited in (
        (0, [0.12, 0.24, 0.26, 0.48], [0.1, 0.1, 0.0, 0.2]),
        (1, [0.12, 0.14, 0.36, 0.38], [0.1, 0.0, 0.2, 0.0]),
        (2, [0.12, 0.24, 0.26, 0.48], [0.1, 0.1, 0.0, 0.2]),
    ):
        assert [ends[node, k] for k in range(4)] == pytest.approx(times)
        assert [waits[node, k] for k in range(4)] == pytest.approx(waited)
    assert seconds(found) == pytest.approx(0.48)
    assert found.outcome.exact


def test_messages_queue_on_a_slow_link() -> None:
    """A message takes 1 s to leave, a step 0.1 s, nobody waits: they arrive at 1, 2, 3, ..., ten iterations apart."""
    setting = replace(world([(0, 1)], (1, 1), iterations=35, algorithm=DPSGD), exchange=Exchange(mode="free"))
    found = run("virtual-time", replace(setting, link=LinkSpec(0.05, 0.0, DENSE_BITS), compute=Compute(0.1)))
    heard = {k: tags for (node, k), tags in found.log.absorbed.items() if node == 0 and tags}
    assert heard == {11: [(1, 0)], 21: [(1, 1)], 31: [(1, 2)]}


def straggling(**changes: object) -> Run:
    """Ten nodes, all joined, a tenth of them ten times slower; 30 iterations of 0.01 s with a round at each."""
    setting = world(all_pairs(10), (1,) * 10, iterations=30, algorithm=replace(PAME, participation=0.3))
    setting = replace(setting, compute=Compute(stragglers=0.1), link=LinkSpec(0.001), **changes)  # type: ignore[arg-type]
    return run("virtual-time", setting)


def test_a_straggler_slows_everybody_without_a_spare_and_nobody_with_all_as_spares() -> None:
    alone = 30 * (0.01 + 0.001)
    assert seconds(straggling()) > 5 * alone
    assert seconds(straggling(exchange=Exchange(spare="all"))) < 1.2 * alone


def test_first_responders_hardly_hear_the_straggler() -> None:
    found = straggling(exchange=Exchange(spare="all"))
    (slow,) = Compute(stragglers=0.1).slow_nodes(7, 10)
    links = found.account.links()
    share = links.aggregated[links.sender == slow].sum() / links.aggregated.sum()
    assert share < 0.02  # a fair share is 0.1
    fair = straggling().account.links()
    assert fair.aggregated[fair.sender == slow].sum() / fair.aggregated.sum() > 0.05


def test_free_never_waits() -> None:
    found = straggling(exchange=Exchange(mode="free"))
    assert {record.waited_s for record in found.records} == {0.0}
    assert seconds(found) == pytest.approx(30 * 0.01)
    assert found.account.messages(Fate.AGGREGATED) > 0


def far(patience_s: float | Literal["adaptive"], exclude_after: int, delay_s: float = 1e4) -> ResolvedRun:
    """Three nodes whose messages take longer than anybody waits; six iterations of 0.01 s, a round at each."""
    setting = world(all_pairs(3), (1, 1, 1), iterations=6, algorithm=replace(PAME, participation=1.0))
    return replace(
        setting, link=LinkSpec(delay_s), exchange=Exchange(patience_s=patience_s, exclude_after=exclude_after)
    )


def test_when_nothing_comes_in_time_every_round_takes_the_patience_and_is_starved() -> None:
    found = run("virtual-time", far(2.0, 1000))
    assert seconds(found) == pytest.approx(6 * 2.01)
    assert all(record.waited_s == pytest.approx(2.0) for record in found.records)
    assert all(record.starved == 1 and record.received == 0 and record.coverage == 0.0 for record in found.records)
    assert found.account.starved == 6 * 3
    assert found.account.messages(Fate.SENT) == 6 * 3 * 2
    assert found.account.messages(Fate.LATE) == 0  # they have not even come
    assert not found.outcome.exact


def test_a_starved_node_takes_plain_gradient_steps() -> None:
    setting = far(2.0, 1000)
    found = run("virtual-time", setting)
    model = np.zeros(24)
    for k in range(6):
        model = model - PAME.step.size(k, 1) * setting.problem.local(0).gradient(model, k)
    assert same_bits(found.log.models[0, 6], model)


@pytest.mark.parametrize("misses", [1, 3, 5])
def test_nobody_waits_for_suspects(misses: int) -> None:
    """So many rounds of 2 s, then nobody is waited for."""
    found = run("virtual-time", far(2.0, misses))
    assert seconds(found) == pytest.approx(misses * 2.01 + (6 - misses) * 0.01)
    assert found.account.starved == 6 * 3


@pytest.mark.parametrize(("misses", "expected"), [(2, 2 * 2.01 + 4 * 0.01), (3, 6 * 2.01)])
def test_a_late_message_clears_its_sender_of_suspicion(misses: int, expected: float) -> None:
    """Messages take 5 s: the first ones come in the third round, after two misses, and then one comes in each round."""
    found = run("virtual-time", far(2.0, misses, delay_s=5.0))
    assert seconds(found) == pytest.approx(expected)
    assert found.account.starved == 6 * 3


def test_waits_that_expired_teach_an_adaptive_patience_nothing() -> None:
    """It stays at the ceiling of 30 s through ten expired rounds."""
    setting = replace(far("adaptive", 1000), stop=StopRules(10))
    assert seconds(run("virtual-time", setting)) == pytest.approx(10 * 30.01)


def test_an_adaptive_patience_learns_from_the_messages_that_arrive() -> None:
    """0 - 1 - 2, 0.05 s apart, 2 all but stands still; 1 asks one of the others at a time. After eight messages of 0
    it waits for 2 no longer than 0.2 s."""
    compute = Compute(stragglers=0.34, slowdown=1e6)
    algorithm = replace(PAME, participation=0.5)

    def asked(seed: int, k: int) -> int:
        return int(candidates(seed, 1, k, (0, 2), 1)[0])

    slow = (seed for seed in range(20000) if compute.slow_nodes(seed, 3) == {2})
    seed = next(seed for seed in slow if all(asked(seed, k) == 0 for k in range(9)))
    setting = world([(0, 1), (1, 2)], (1, 1, 1), iterations=30, seed=seed, algorithm=algorithm)
    found = run(
        "virtual-time", replace(setting, link=LinkSpec(0.05), compute=compute, exchange=Exchange(patience_s="adaptive"))
    )
    first = next(k for k in range(30) if asked(seed, k) == 2)
    waits = {r.iteration: r.waited_s for r in found.records if r.node == 1}
    assert [waits[k] for k in range(first + 1)] == pytest.approx([0.05] * first + [0.2])


def test_a_node_goes_on_with_what_came_when_its_patience_is_over() -> None:
    """One of the two neighbours is too far away: each round takes the patience and averages one message."""
    setting = world(all_pairs(3), (1, 1, 1), iterations=5, algorithm=replace(PAME, participation=1.0))
    slow = replace(
        setting,
        compute=Compute(0.01, stragglers=0.34, slowdown=1000.0),
        exchange=Exchange(patience_s=0.5, exclude_after=99),
    )
    (late,) = slow.compute.slow_nodes(slow.seed, 3)
    found = run("virtual-time", slow)
    fast = [record for record in found.records if record.node != late and record.iteration > 0]
    assert all(record.received == 1 and record.wanted == 2 for record in fast)
    assert all(record.waited_s == pytest.approx(0.5) for record in fast)
    assert not found.outcome.exact


@pytest.mark.parametrize("limit", [0.1, 0.155])
@pytest.mark.parametrize("mode", get_args(Mode))
def test_no_run_exceeds_its_simulated_seconds(limit: float, mode: Mode) -> None:
    setting = replace(world(iterations=1000), stop=StopRules(1000, seconds=limit), exchange=Exchange(mode=mode))
    found = run("virtual-time", setting)
    assert found.outcome.seconds == limit
    assert "seconds" in found.outcome.reason
    times = [record.seconds for record in found.records if record.seconds is not None]
    assert limit - 0.011 < max(times) <= limit
    for node in range(8):
        newest = max(k for i, k in found.log.models if i == node)
        assert same_bits(found.outcome.models[node], found.log.models[node, newest])


def test_seconds_alone_end_a_run_beyond_300_iterations() -> None:
    setting = replace(world(), stop=StopRules(NO_LIMIT, seconds=4.0), evaluate_every=100)
    found = run("virtual-time", setting)
    assert (found.outcome.seconds, found.outcome.reason) == (4.0, "4 simulated seconds are over")
    assert found.outcome.iterations > 300


def test_one_second_is_over_and_not_seconds() -> None:
    setting = replace(world(), stop=StopRules(NO_LIMIT, seconds=1.0), evaluate_every=100)
    assert run("virtual-time", setting).outcome.reason == "1 simulated second is over"
