"""Records say how many messages a node lost on purpose and how old those were that it averaged, in every driver."""

from collections import Counter
from dataclasses import replace

import pytest

from pame.algorithms import Received
from pame.byte_account import Fate
from pame.fault_effects import CutEffect, DropEffect, FaultEvent, Window
from pame.links import LinkSpec
from pame.observe import Record
from pame.participant import staleness
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Messages
from pame.sampling import candidates, message_lost, participation
from tests.pame.simulator.harness import DPSGD, PAME, PERIODS, Run, run, world

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
    assert sum(record.lost for record in found.records) == found.ledger.messages(Fate.LOST) > 20


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
    assert sum(record.lost for record in rows) == found.ledger.messages(Fate.LOST) > 2


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
