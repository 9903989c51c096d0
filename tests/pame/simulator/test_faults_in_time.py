"""Faults in the simulator, against hand calculations; and those by iteration change nothing that a clock would show."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.algorithms import NidsSpec
from pame.byte_account import Fate
from pame.errors import ParameterError
from pame.fault_effects import (
    ContainerKillEffect,
    CutEffect,
    DegradeEffect,
    DropEffect,
    Effect,
    FaultEvent,
    KillEffect,
    PauseEffect,
    RestartEffect,
    SlowEffect,
    Window,
)
from pame.links import LinkSpec
from pame.observe import Record
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Messages
from tests.pame.simulator.harness import DPSGD, PAME, Run, all_pairs, run, same_as_far_as_it_goes, same_bits, world

STEP = 0.01
HASTY = Exchange(patience_s=0.05, exclude_after=1)


def faulty(setting: ResolvedRun, *events: tuple[Effect, Window], **changes: object) -> ResolvedRun:
    made = tuple(FaultEvent(number, "test", effect, window) for number, (effect, window) in enumerate(events))
    return replace(setting, plan=made, **changes)  # type: ignore[arg-type]


def pair(iterations: int = 20) -> ResolvedRun:
    """Two nodes that exchange at each iteration, with 0.01 s steps and no delay."""
    return world([(0, 1)], (1, 1), iterations=iterations, algorithm=DPSGD)


def by_iteration(begin: float, end: float) -> Window:
    return Window(begin, end, "iterations")


def at_iteration(k: int, lasts_s: float = inf) -> Window:
    return Window(k, unit="iterations", lasts_s=lasts_s)


links = st.sampled_from([(i, j) for i in range(8) for j in range(8) if i != j])
public = st.lists(
    st.tuples(
        st.builds(CutEffect, st.lists(links, min_size=1, max_size=6, unique=True).map(tuple))
        | st.builds(DropEffect, st.lists(links, min_size=1, max_size=6, unique=True).map(tuple), st.floats(0, 1)),
        st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda two: by_iteration(two[0], two[0] + two[1])),
    ),
    max_size=5,
)


@settings(max_examples=20, deadline=None)
@given(events=public, delay=st.floats(0, 0.05), loss=st.sampled_from([0.0, 0.3]))
def test_faults_by_iteration_are_the_same_with_and_without_a_clock(
    events: list[tuple[Effect, Window]], delay: float, loss: float
) -> None:
    setting = faulty(world(iterations=10), *events, messages=Messages(loss=loss))
    reference = run("lock-step", setting)
    found = run("virtual-time", replace(setting, link=LinkSpec(delay, delay / 2), compute=Compute(jitter=0.5)))
    assert same_bits(found.outcome.models, reference.outcome.models)
    assert found.account.messages(Fate.LOST) == reference.account.messages(Fate.LOST)
    assert found.outcome.exact == reference.outcome.exact


def ends_of(node: int, records: Sequence[Record]) -> list[tuple[int, float]]:
    """Its iterations, and when each ended."""
    return [(r.iteration, r.seconds) for r in records if r.node == node and r.seconds is not None]


def is_away(records: Sequence[Record], begin: float, end: float) -> bool:
    """Node 2 is: it ends no iteration within this time, and others after it."""
    mine = [seconds for _, seconds in ends_of(2, records)]
    return not [seconds for seconds in mine if begin < seconds < end] and max(mine) > end


def ends_in(found: Run) -> dict[tuple[int, int], float]:
    return {(node, k): seconds for node in (0, 1) for k, seconds in ends_of(node, found.records)}


def waited_in(found: Run) -> dict[tuple[int, int], float]:
    return {(r.node, r.iteration): r.waited_s for r in found.records if r.waited_s is not None}


def test_a_cut_by_iteration_loses_exactly_the_messages_of_its_window() -> None:
    found = run("lock-step", faulty(pair(), (CutEffect(((0, 1),)), by_iteration(5, 8))))
    assert found.account.messages(Fate.LOST) == 3
    assert found.account.messages(Fate.SENT) == 2 * 20 - 3


def test_a_cut_by_the_clock_holds_messages_until_it_heals() -> None:
    """Cut from 0.05 to 0.55 s: the exchange of iteration 5 waits for half a second, nothing is lost."""
    found = run("virtual-time", faulty(pair(), (CutEffect(((0, 1),)), Window(0.05, 0.55))))
    waits = waited_in(found)
    assert waits[1, 5] == pytest.approx(0.5)
    assert sum(waits.values()) == pytest.approx(waits[1, 5] + waits[0, 6])  # and who is ahead waits for who was held
    assert found.account.messages(Fate.LOST) == 0
    same_as_far_as_it_goes(found, run("lock-step", pair()), held=True)


def test_what_a_cut_holds_is_sent_and_recorded_when_it_heals() -> None:
    """Cut from 0.05 to 0.55 s: node 0 gives its message of iteration 5 then, and is at 6 when it is handed over."""
    found = run("virtual-time", faulty(pair(), (CutEffect(((0, 1),)), Window(0.05, 0.55))))
    sent = {r.iteration: r.messages for r in found.records if r.node == 0}
    assert [sent[k] for k in range(4, 9)] == [1, 0, 2, 1, 1]
    size = {r.iteration: r.bytes for r in found.records if r.node == 0}
    assert size[6] == 2 * size[7] > 0
    for k, point in found.curve("iteration").items():
        assert point.bytes == sum(r.bytes for r in found.records if r.iteration < k)
    assert found.account.messages(Fate.QUEUED) == 0
    cut_off = 1  # the run ends with the median node, before the other one has done its last iteration
    assert found.account.messages(Fate.SENT) == sum(r.messages for r in found.records) + cut_off


def test_a_link_that_is_never_whole_again_does_not_hang_the_run() -> None:
    found = run(
        "virtual-time",
        faulty(pair(), (CutEffect(((0, 1),)), Window(0.05)), exchange=Exchange(patience_s=0.2, exclude_after=2)),
    )
    assert found.outcome.reason == "the median node did 20 iterations"
    starved = [r.node for r in found.records if r.starved]
    assert 1 in starved


def test_a_degraded_link_is_slower_for_its_time() -> None:
    changes = {"link": LinkSpec(0.01)}
    found = run(
        "virtual-time", faulty(pair(), (DegradeEffect(((0, 1), (1, 0)), 3.0, 0.02), Window(0.095, 0.195)), **changes)
    )
    waits = {r.iteration: r.waited_s for r in found.records if r.node == 0}
    # starts of iterations: 0, .02, ..., .1 (k = 5: .05 wait), .16 (k = 6: .05), .22
    assert [waits[k] for k in range(9)] == pytest.approx([0.01] * 5 + [0.05, 0.05] + [0.01, 0.01])


def test_a_slow_node_is_slow_in_its_window_and_holds_up_its_neighbours() -> None:
    found = run("virtual-time", faulty(pair(), (SlowEffect((0,), 10.0), by_iteration(5, 8))))
    ends = ends_in(found)
    assert ends[0, 4] == pytest.approx(0.05)
    assert [ends[0, k] - ends[0, k - 1] for k in (5, 6, 7, 8)] == pytest.approx([0.1, 0.1, 0.1, 0.01])
    same_as_far_as_it_goes(found, run("lock-step", pair()))


def test_a_paused_node_goes_on_where_it_was() -> None:
    found = run("virtual-time", faulty(pair(), (PauseEffect((0,)), Window(0.045, 1.045))))
    ends = ends_in(found)
    assert ends[0, 4] == pytest.approx(1.045)  # its step ended while it stood still
    assert ends[1, 4] == pytest.approx(0.05)
    assert ends[1, 5] == pytest.approx(1.055)
    same_as_far_as_it_goes(found, run("lock-step", pair()))


def everybody(iterations: int = 40) -> ResolvedRun:
    return world(all_pairs(6), (1,) * 6, iterations=iterations, algorithm=replace(PAME, participation=0.6))


@pytest.mark.parametrize("state", ["snapshot", "cold", "neighbours"])
def test_a_killed_node_comes_back_where_its_neighbours_are(state: str) -> None:
    killed = faulty(
        everybody(),
        (KillEffect((2,)), Window(0.105, 0.205)),
        exchange=HASTY,
        restart_state=state,
    )
    found = run("virtual-time", killed)
    mine = ends_of(2, found.records)
    assert max(k for k, seconds in mine if seconds < 0.2) == 9
    again = [k for k, seconds in mine if seconds > 0.2]
    assert 10 <= min(again) <= 25
    assert not found.outcome.exact
    assert found.outcome.reason == "the median node did 40 iterations"
    assert np.isfinite(found.outcome.models).all()


def test_a_node_that_is_away_cannot_be_killed_again() -> None:
    once, twice = (KillEffect((2,)), Window(0.105, 0.205)), (KillEffect((2,)), Window(0.125, 0.145))
    expected, found = (
        run("virtual-time", faulty(everybody(), *events, exchange=HASTY)) for events in ((once,), (once, twice))
    )
    assert same_bits(found.outcome.models, expected.outcome.models)
    assert found.records == expected.records


def test_a_container_is_down_until_the_last_who_wanted_that_is_done() -> None:
    first, second, process = Window(0.105, 0.205), Window(0.125, 0.305), (KillEffect((2,)), Window(0.125, 0.505))
    longer, found, also_killed = (
        run("virtual-time", faulty(everybody(), *events, exchange=HASTY)).records
        for events in (
            ((ContainerKillEffect((2,)), Window(0.105, 0.305)),),
            ((ContainerKillEffect((2,)), first), (ContainerKillEffect((2,)), second)),
            ((ContainerKillEffect((2,)), first), (ContainerKillEffect((2,)), second), process),
        )
    )
    assert longer == found == also_killed


def test_a_node_that_is_killed_when_it_comes_back_is_killed_again() -> None:
    kills = (KillEffect((2,)), Window(0.105, 0.205)), (KillEffect((2,)), Window(0.205, 0.305))
    found = run("virtual-time", faulty(everybody(), *kills, exchange=HASTY))
    assert is_away(found.records, 0.105, 0.305)


def test_a_node_paused_at_an_iteration_stands_still_before_it_sends() -> None:
    found = run("virtual-time", faulty(pair(), (PauseEffect((0,)), at_iteration(5, 1.0))))
    ends = ends_in(found)
    assert [ends[0, k] for k in range(20)] == pytest.approx([0.01 * (k + 1) + (k >= 5) for k in range(20)])
    waits = waited_in(found)
    assert {place for place, waited in waits.items() if waited} == {(1, 5)}
    assert waits[1, 5] == pytest.approx(1.0)
    same_as_far_as_it_goes(found, run("lock-step", pair()))


def test_pauses_by_iteration_and_by_the_clock_join() -> None:
    found = run(
        "virtual-time", faulty(pair(), (PauseEffect((0,)), at_iteration(5, 1.0)), (PauseEffect((0,)), Window(1.0, 3.0)))
    )
    ends = ends_in(found)
    assert (ends[0, 4], ends[0, 5], ends[0, 6]) == pytest.approx((0.05, 3.01, 3.02))


def test_a_node_killed_at_an_iteration_comes_back_so_much_later() -> None:
    killed = faulty(everybody(), (KillEffect((2,)), at_iteration(10, 0.1)), exchange=HASTY)
    found, again = run("virtual-time", killed), run("virtual-time", killed)
    mine = ends_of(2, found.records)
    assert [k for k, _ in mine[:10]] == list(range(10))
    assert mine[9][1] == pytest.approx(0.1)
    assert mine[10][1] >= 0.2 + STEP - 1e-9
    assert mine[10][0] >= 10
    assert not found.outcome.exact
    assert again.records == found.records
    assert same_bits(again.outcome.models, found.outcome.models)


@pytest.mark.parametrize("effect", [KillEffect((0,)), RestartEffect((0,))])
def test_a_node_that_passes_its_iteration_again_is_not_stopped_again(effect: Effect) -> None:
    """Node 1 is still at its slow step of iteration 4 when node 0, which is stopped at 5, is back."""
    setting = faulty(pair(), (SlowEffect((1,), 10.0), Window(0)), (effect, at_iteration(5, 0.001)))
    found = run("virtual-time", setting, spied=False)
    assert [r.iteration for r in found.records if r.node == 0] == [*range(5), *range(4, 20)]


def test_two_orders_at_one_iteration_are_carried_out_one_after_the_other() -> None:
    orders = (PauseEffect((2,)), at_iteration(10, 0.3)), (KillEffect((2,)), at_iteration(10, 0.1))
    found = run("virtual-time", faulty(everybody(80), *orders, exchange=HASTY))
    assert is_away(found.records, 0.101, 0.5)


def test_an_order_by_the_clock_finds_nobody_at_a_node_that_was_killed_at_an_iteration() -> None:
    first = (KillEffect((2,)), at_iteration(10, 0.1))
    alone, killed, container = (
        run("virtual-time", faulty(everybody(80), *events, exchange=HASTY)).records
        for events in (
            (first,),
            (first, (KillEffect((2,)), Window(0.125, 0.505))),
            (first, (ContainerKillEffect((2,)), Window(0.125, 0.505))),
        )
    )
    assert killed == alone
    assert is_away(container, 0.101, 0.505)


@pytest.mark.parametrize("effect", [PauseEffect((2,)), KillEffect((2,))])
def test_what_stops_a_node_for_good_at_an_iteration_leaves_the_others_alone(effect: Effect) -> None:
    found = run(
        "virtual-time",
        faulty(everybody(), (effect, at_iteration(10)), exchange=HASTY),
    )
    assert [r.iteration for r in found.records if r.node == 2] == list(range(10))
    assert max(r.iteration for r in found.records) == 39


def test_nobody_is_stopped_at_an_iteration_that_is_never_begun() -> None:
    found = run("virtual-time", faulty(everybody(), (KillEffect(tuple(range(6))), at_iteration(40, 0.1))))
    assert found.outcome.exact
    assert found.outcome.iterations == 39  # the mean, when the median node did 40


def test_what_a_killed_node_had_counted_stays_counted() -> None:
    """Node 0 counts what it waits for in vain while its link is cut; long after that it is killed, and comes back."""
    cut, base = (CutEffect(((1, 0),)), Window(0.045, 1.0)), replace(pair(400), algorithm=NidsSpec(eta=0.05))
    alive, killed = (
        run(
            "virtual-time", faulty(base, cut, *kill, exchange=Exchange(patience_s=0.05, exclude_after=2))
        ).account.desynchronised
        for kill in ((), ((KillEffect((0,)), Window(3.0, 3.5)),))
    )
    assert 50 < alive < killed


def test_a_node_that_never_comes_back_does_not_end_the_run_of_the_others() -> None:
    found = run(
        "virtual-time",
        faulty(everybody(), (KillEffect((2,)), Window(0.1)), exchange=HASTY),
    )
    assert max(r.iteration for r in found.records if r.node != 2) == 39
    assert max(r.iteration for r in found.records if r.node == 2) < 12


@pytest.mark.parametrize("driver", ["lock-step", "vectorised"])
def test_drivers_without_a_clock_refuse_faults_that_need_one(driver: str) -> None:
    with pytest.raises(ParameterError, match=r"simulate\.driver: virtual-time"):
        run(driver, faulty(world(), (CutEffect(((0, 1),)), Window(1, 2))))
    with pytest.raises(ParameterError, match=r"simulate\.driver: virtual-time"):
        run(driver, faulty(world(), (PauseEffect((0,)), at_iteration(5, 1.0))))
    with pytest.raises(ParameterError, match=r"simulate\.driver: lock-step"):
        run("vectorised", faulty(world(), (CutEffect(((0, 1),)), by_iteration(1, 2))))
