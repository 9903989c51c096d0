"""Which messages are lost is a public draw: nobody waits for them, and records count them and the age of the others."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pame.algorithms import AlgorithmSpec, Received
from pame.byte_account import Fate
from pame.fault_effects import CutEffect, DropEffect, FaultEvent, Window
from pame.links import LinkSpec
from pame.observe import Record
from pame.participant import staleness
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Messages
from pame.sampling import candidates, message_lost, participation
from tests.pame.simulator.harness import (
    DPSGD,
    PAME,
    PERIODS,
    Run,
    all_pairs,
    run,
    same_as_far_as_it_goes,
    same_bits,
    world,
)

ALGORITHMS = [PAME, replace(PAME, participation=1.0), DPSGD, replace(DPSGD, on_loss="naive")]


def longest_wait(found: Run) -> float:
    return max(record.waited_s for record in found.records if record.waited_s is not None)


def same_as_lock_step(setting: ResolvedRun) -> Run:
    """Run it under the clock, compare, and see that nothing came late and nobody was given up."""
    found, reference = run("virtual-time", setting), run("lock-step", setting)
    same_as_far_as_it_goes(found, reference)
    assert found.account.messages(Fate.LATE) == found.account.messages(Fate.EVICTED) == 0
    done = [max(k for i, k in found.log.models if i == node) for node in range(setting.topology.nodes)]
    assert 2 * sum(k == setting.stop.last_iteration for k in done) >= len(done)
    return found


@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(
    seed=st.integers(0, 10**6),
    algorithm=st.sampled_from(ALGORITHMS),
    loss=st.floats(0.01, 0.99),
    link=st.builds(LinkSpec, st.floats(0.0, 0.1), st.floats(0.0, 0.1), st.floats(3e3, 1e7)),
    compute=st.builds(Compute, jitter=st.floats(0.0, 0.9), stragglers=st.sampled_from([0.0, 0.3])),
    periods=st.lists(st.integers(1, 5), min_size=8, max_size=8),
    exclude_after=st.integers(1, 4),
)
def test_any_patience_long_enough_for_the_messages_that_do_come_gives_the_lock_step_run(
    seed: int,
    algorithm: AlgorithmSpec,
    loss: float,
    link: LinkSpec,
    compute: Compute,
    periods: list[int],
    exclude_after: int,
) -> None:
    """With an endless patience a wait for a lost message would last for ever; then, no wait is longer than the run."""
    setting = world(seed=seed, periods=tuple(periods), algorithm=algorithm, iterations=6)
    setting = replace(
        setting,
        messages=Messages(loss=loss),
        link=link,
        compute=compute,
    )
    endless = same_as_lock_step(replace(setting, exchange=Exchange(patience_s=1e9, exclude_after=exclude_after)))
    whole = endless.outcome.seconds
    assert whole is not None
    assert whole < 1e3
    found = same_as_lock_step(
        replace(setting, exchange=Exchange(patience_s=1.001 * whole + 1e-6, exclude_after=exclude_after))
    )
    assert [r.seconds for r in found.records] == [r.seconds for r in endless.records]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("algorithm", [PAME, DPSGD], ids=lambda spec: spec.kind)
def test_an_adaptive_patience_gives_the_lock_step_run(algorithm: AlgorithmSpec, seed: int) -> None:
    """Patience never falls below 0.2 s, and here no wait is that long."""
    setting = world(seed=seed, algorithm=algorithm, iterations=20)
    setting = replace(
        setting,
        messages=Messages(loss=0.3),
        link=LinkSpec(0.01, 0.005),
        exchange=Exchange(patience_s="adaptive", exclude_after=1),
    )
    found = same_as_lock_step(setting)
    assert longest_wait(found) < 0.2
    assert found.account.messages(Fate.LOST) > 20


@pytest.mark.parametrize("loss", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("algorithm", [PAME, DPSGD], ids=lambda spec: spec.kind)
def test_on_instant_links_no_round_takes_any_waiting(algorithm: AlgorithmSpec, loss: float) -> None:
    """20 iterations of 0.01 s; the shortest patience will do, for nothing is waited for."""
    setting = replace(
        world(algorithm=algorithm), messages=Messages(loss=loss), exchange=Exchange(patience_s=1e-9, exclude_after=1)
    )
    found = same_as_lock_step(setting)
    assert found.outcome.seconds == pytest.approx(0.2)
    assert longest_wait(found) == 0.0


@pytest.mark.parametrize("link", [LinkSpec(), LinkSpec(5.0)], ids=["instant", "slow"])
def test_when_everything_is_lost_rounds_take_no_time_and_are_starved(link: LinkSpec) -> None:
    setting = world(all_pairs(3), (1, 1, 1), iterations=6, algorithm=replace(PAME, participation=1.0))
    found = run(
        "virtual-time", replace(setting, messages=Messages(loss=1.0), exchange=Exchange(patience_s=2.0), link=link)
    )
    assert found.outcome.seconds == pytest.approx(6 * 0.01)
    for record in found.records:
        assert (record.waited_s, record.received, record.starved, record.coverage) == (0.0, 0, 1, 0.0)
    assert found.account.messages(Fate.SENT) == 0
    assert found.account.starved == 6 * 3
    assert not found.outcome.exact


def test_a_lost_message_shortens_the_round_it_is_missing_from() -> None:
    """Two nodes 0.05 s apart: a round takes 0.05 s of waiting if the message comes, and none if it is lost."""
    setting = world([(0, 1)], (1, 1), iterations=40, seed=3, algorithm=DPSGD)
    found = run("virtual-time", replace(setting, messages=Messages(loss=0.3), link=LinkSpec(0.05)))
    seen = set()
    start = {0: 0.0, 1: 0.0}
    for k in range(40):
        ready = {
            i: start[i] if message_lost(3, 1 - i, i, k, 0.3) else max(start[i], start[1 - i] + 0.05) for i in start
        }
        for record in found.records:
            if record.iteration == k:
                assert record.waited_s == pytest.approx(ready[record.node] - start[record.node], abs=1e-9)
                seen.add((record.node, k))
        start = {i: at + 0.01 for i, at in ready.items()}
    assert len(seen) >= 2 * 40 - 6


def test_suspects_are_not_made_by_losses() -> None:
    """With every second message lost and a single miss enough, everybody is still waited for at the end."""
    setting = world(all_pairs(4), (1,) * 4, iterations=30, algorithm=DPSGD)
    found = run(
        "virtual-time",
        replace(setting, messages=Messages(loss=0.5), link=LinkSpec(0.05), exchange=Exchange(exclude_after=1)),
    )
    for record in found.records:
        lost = [message_lost(7, j, record.node, record.iteration, 0.5) for j in range(4) if j != record.node]
        assert record.received == lost.count(False)
    assert found.account.messages(Fate.LATE) == 0


def test_without_stragglers_a_lossy_run_ends_in_the_very_models_of_the_lock_step_run() -> None:
    setting = replace(world(iterations=15), messages=Messages(loss=0.2))
    reference = run("lock-step", setting).outcome
    found = run("virtual-time", replace(setting, link=LinkSpec(0.02, 0.02), compute=Compute(jitter=0.5))).outcome
    assert found.iterations == reference.iterations == 15
    assert same_bits(found.models, reference.models)


DRIVERS = ("lock-step", "vectorised", "virtual-time")


def of_node(found: Run, node: int) -> list[Record]:
    return sorted((r for r in found.records if r.node == node), key=lambda record: record.iteration)


def ages(found: Run) -> dict[tuple[int, int], float]:
    """By node and iteration, as recorded; they are those of what the algorithm objects were given."""
    recorded = {(record.node, record.iteration): record.staleness for record in found.records}
    expected = {
        (node, k): sum(max(0, k - tag) for _, tag in heard) / len(heard) if heard else None
        for (node, k), heard in found.log.absorbed.items()
        if (node, k) in recorded
    }
    assert recorded == expected
    return {place: age for place, age in recorded.items() if age is not None}


def pair(**changes: object) -> ResolvedRun:
    """Two nodes that exchange whole models at each iteration, with steps of 0.01 s."""
    setting = world([(0, 1)], (1, 1), iterations=20, algorithm=DPSGD)
    return replace(setting, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("loss", [0.3, 1.0])
def test_a_record_counts_the_messages_that_the_public_draw_loses(driver: str, loss: float) -> None:
    setting = replace(world(iterations=20), messages=Messages(loss=loss))
    expected: Counter[tuple[int, int]] = Counter()
    for receiver, period in enumerate(PERIODS):
        neighbours = setting.topology.neighbours(receiver)
        for k in range(0, 20, period):
            for sender in candidates(7, receiver, k, neighbours, participation(PAME.participation, len(neighbours))):
                expected[sender, k] += message_lost(7, sender, receiver, k, loss)
    found = run(driver, setting, spied=driver != "vectorised")
    assert {(r.node, r.iteration): r.lost for r in found.records if r.lost} == +expected
    assert sum(record.lost for record in found.records) == found.account.messages(Fate.LOST) > 20


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_is_averaged_in_its_own_round_is_not_stale(driver: str) -> None:
    found = run(driver, replace(world(), messages=Messages(loss=0.5)), spied=driver != "vectorised")
    assert {(record.received > 0, record.staleness) for record in found.records} == {(True, 0.0), (False, None)}


@pytest.mark.parametrize("driver", ["lock-step", "virtual-time"])
def test_a_cut_by_iteration_is_a_loss_at_its_sender_and_leaves_the_receiver_without_an_average(driver: str) -> None:
    cut = FaultEvent(0, "link-down", CutEffect(((0, 1),)), Window(5, 8, "iterations"))
    found = run(driver, pair(plan=(cut,)))
    assert [record.iteration for record in of_node(found, 0) if record.lost] == [5, 6, 7]
    assert [record.iteration for record in of_node(found, 1) if record.staleness is None] == [5, 6, 7]
    assert {record.lost for record in of_node(found, 1)} == {0}


def test_a_drop_by_the_clock_counts_for_the_iterations_that_begin_in_it() -> None:
    drop = FaultEvent(0, "message-loss", DropEffect(((0, 1),), 1.0), Window(0.055, 0.105))
    found = run("virtual-time", pair(plan=(drop,), exchange=Exchange(patience_s=0.002, exclude_after=1000)))
    rows = of_node(found, 0)
    begins = [0.0, *(record.seconds or 0.0 for record in rows)]
    assert [r.lost for r in rows] == [int(0.055 <= begin < 0.105) for begin, r in zip(begins, rows, strict=False)]
    assert sum(record.lost for record in rows) == found.account.messages(Fate.LOST) > 2


def test_a_slow_sender_makes_averages_stale_if_old_messages_may_be_used() -> None:
    """Messages take 0.023 s and patience 0.01 s: the first round gets nothing, the second the message of the first."""
    found = run(
        "virtual-time", pair(link=LinkSpec(0.023), exchange=Exchange(patience_s=0.01, exclude_after=1000, max_lag=10))
    )
    for node in (0, 1):
        assert [record.staleness for record in of_node(found, node)][:2] == [None, 1.0]
    assert max(ages(found).values()) <= 10


def test_a_straggler_among_many_makes_exactly_the_averages_stale_that_heard_it_late() -> None:
    setting = replace(world(periods=(1,) * 8), exchange=Exchange(max_lag=3, patience_s=0.015, exclude_after=1000))
    found = run("virtual-time", replace(setting, compute=Compute(stragglers=0.1, slowdown=4.0)))
    assert {age.is_integer() for age in ages(found).values()} == {True, False}


def test_without_waiting_the_age_is_how_far_a_node_is_ahead_of_the_message() -> None:
    """A message takes 1 s to leave and a step 0.1 s: at iterations 11, 21, 31 come the messages 0, 1, 2."""
    setting = replace(world([(0, 1)], (1, 1), iterations=35, algorithm=DPSGD), exchange=Exchange(mode="free"))
    link = LinkSpec(0.05, 0.0, 8.0 * (1 + 24 * 8))
    found = run("virtual-time", replace(setting, link=link, compute=Compute(0.1)))
    stale = {record.iteration: record.staleness for record in of_node(found, 0) if record.staleness is not None}
    assert stale == {11: 11.0, 21: 20.0, 31: 29.0}


def test_without_waiting_a_message_from_ahead_is_fresh() -> None:
    setting = replace(
        world(periods=(1,) * 8, iterations=30), exchange=Exchange(mode="free"), compute=Compute(stragglers=0.1)
    )
    (slow,) = setting.compute.slow_nodes(7, 8)
    found = run("virtual-time", setting)
    assert any(tag > k for (_, k), heard in found.log.absorbed.items() for _, tag in heard)
    assert {record.staleness for record in of_node(found, slow)} <= {None, 0.0}


def test_the_mean_is_over_messages_and_nothing_has_no_age() -> None:
    heard = [Received(sender, tag, {}, 10) for sender, tag in ((1, 4), (2, 1), (3, 9))]
    assert staleness(4, heard) == 1.0
    assert staleness(4, heard[:2]) == 1.5
    assert staleness(4, []) is None
