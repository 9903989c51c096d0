"""Faults in the simulator, against hand calculations; and those by iteration change nothing that a clock would show."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator_world import DPSGD, PAME, all_pairs, run, same_as_far_as_it_goes, same_bits, world

from pame.algorithms import NidsSpec
from pame.errors import ParameterError
from pame.faults import Cut, Degrade, Drop, Effect, Event, Kill, Pause, Slow, Window
from pame.ledger import Fate
from pame.links import LinkSpec
from pame.setting import Compute, Setting

STEP = 0.01


def faulty(setting: Setting, *events: tuple[Effect, Window], **changes: object) -> Setting:
    made = tuple(Event(number, "test", effect, window) for number, (effect, window) in enumerate(events))
    return replace(setting, plan=made, **changes)  # type: ignore[arg-type]


def pair(iterations: int = 20) -> Setting:
    """Two nodes that exchange at each iteration, with 0.01 s steps and no delay."""
    return world([(0, 1)], (1, 1), iterations=iterations, algorithm=DPSGD)


def by_iteration(begin: float, end: float) -> Window:
    return Window(begin, end, "iterations")


links = st.sampled_from([(i, j) for i in range(8) for j in range(8) if i != j])
public = st.lists(
    st.tuples(
        st.builds(Cut, st.lists(links, min_size=1, max_size=6, unique=True).map(tuple))
        | st.builds(Drop, st.lists(links, min_size=1, max_size=6, unique=True).map(tuple), st.floats(0, 1)),
        st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda two: by_iteration(two[0], two[0] + two[1])),
    ),
    max_size=5,
)


@settings(max_examples=20, deadline=None)
@given(events=public, delay=st.floats(0, 0.05), loss=st.sampled_from([0.0, 0.3]))
def test_faults_by_iteration_are_the_same_with_and_without_a_clock(
    events: list[tuple[Effect, Window]], delay: float, loss: float
) -> None:
    setting = faulty(world(iterations=10), *events, message_loss=loss)
    reference = run("lock-step", setting)
    found = run("virtual-time", replace(setting, link=LinkSpec(delay, delay / 2), compute=Compute(jitter=0.5)))
    assert same_bits(found.outcome.models, reference.outcome.models)
    assert found.ledger.messages(Fate.LOST) == reference.ledger.messages(Fate.LOST)
    assert found.outcome.exact == reference.outcome.exact


def test_a_cut_by_iteration_loses_exactly_the_messages_of_its_window() -> None:
    found = run("lock-step", faulty(pair(), (Cut(((0, 1),)), by_iteration(5, 8))))
    assert found.ledger.messages(Fate.LOST) == 3
    assert found.ledger.messages(Fate.SENT) == 2 * 20 - 3


def test_a_cut_by_the_clock_holds_messages_until_it_heals() -> None:
    """Cut from 0.05 to 0.55 s: the exchange of iteration 5 waits for half a second, nothing is lost."""
    found = run("virtual-time", faulty(pair(), (Cut(((0, 1),)), Window(0.05, 0.55))))
    waits = {(r.node, r.iteration): r.waited_s for r in found.records}
    assert waits[1, 5] == pytest.approx(0.5)
    assert sum(waits.values()) == pytest.approx(waits[1, 5] + waits[0, 6])  # and who is ahead waits for who was held
    assert found.ledger.messages(Fate.LOST) == 0
    same_as_far_as_it_goes(found, run("lock-step", pair()))


def test_a_link_that_is_never_whole_again_does_not_hang_the_run() -> None:
    found = run("virtual-time", faulty(pair(), (Cut(((0, 1),)), Window(0.05)), patience_s=0.2, exclude_after=2))
    assert found.outcome.reason == "the median node did 20 iterations"
    starved = [r.node for r in found.records if r.starved]
    assert 1 in starved


def test_a_degraded_link_is_slower_for_its_time() -> None:
    changes = {"link": LinkSpec(0.01)}
    found = run("virtual-time", faulty(pair(), (Degrade(((0, 1), (1, 0)), 3.0, 0.02), Window(0.095, 0.195)), **changes))
    waits = {r.iteration: r.waited_s for r in found.records if r.node == 0}
    # starts of iterations: 0, .02, ..., .1 (k = 5: .05 wait), .16 (k = 6: .05), .22
    assert [waits[k] for k in range(9)] == pytest.approx([0.01] * 5 + [0.05, 0.05] + [0.01, 0.01])


def test_a_slow_node_is_slow_in_its_window_and_holds_up_its_neighbours() -> None:
    found = run("virtual-time", faulty(pair(), (Slow((0,), 10.0), by_iteration(5, 8))))
    ends = {(r.node, r.iteration): r.seconds for r in found.records}
    assert ends[0, 4] == pytest.approx(0.05)
    assert [ends[0, k] - ends[0, k - 1] for k in (5, 6, 7, 8)] == pytest.approx([0.1, 0.1, 0.1, 0.01])
    same_as_far_as_it_goes(found, run("lock-step", pair()))


def test_a_paused_node_goes_on_where_it_was() -> None:
    found = run("virtual-time", faulty(pair(), (Pause((0,)), Window(0.045, 1.045))))
    ends = {(r.node, r.iteration): r.seconds for r in found.records}
    assert ends[0, 4] == pytest.approx(1.045)  # its step ended while it stood still
    assert ends[1, 4] == pytest.approx(0.05)
    assert ends[1, 5] == pytest.approx(1.055)
    same_as_far_as_it_goes(found, run("lock-step", pair()))


def everybody(iterations: int = 40) -> Setting:
    return world(all_pairs(6), (1,) * 6, iterations=iterations, algorithm=replace(PAME, participation=0.6))


@pytest.mark.parametrize("state", ["snapshot", "cold", "neighbours"])
def test_a_killed_node_comes_back_where_its_neighbours_are(state: str) -> None:
    killed = faulty(
        everybody(), (Kill((2,)), Window(0.105, 0.205)), patience_s=0.05, exclude_after=1, restart_state=state
    )
    found = run("virtual-time", killed)
    mine = [r for r in found.records if r.node == 2]
    assert max(r.iteration for r in mine if r.seconds < 0.2) == 9
    again = [r.iteration for r in mine if r.seconds > 0.2]
    assert 10 <= min(again) <= 25
    assert not found.outcome.exact
    assert found.outcome.reason == "the median node did 40 iterations"
    assert np.isfinite(found.outcome.models).all()


def test_a_node_that_is_away_cannot_be_killed_again() -> None:
    once, twice = (Kill((2,)), Window(0.105, 0.205)), (Kill((2,)), Window(0.125, 0.145))
    expected, found = (
        run("virtual-time", faulty(everybody(), *events, patience_s=0.05, exclude_after=1))
        for events in ((once,), (once, twice))
    )
    assert same_bits(found.outcome.models, expected.outcome.models)
    assert found.records == expected.records


def test_what_a_killed_node_had_counted_stays_counted() -> None:
    """Node 0 counts what it waits for in vain while its link is cut; long after that it is killed, and comes back."""
    cut, base = (Cut(((1, 0),)), Window(0.045, 1.0)), replace(pair(400), algorithm=NidsSpec(eta=0.05))
    alive, killed = (
        run("virtual-time", faulty(base, cut, *kill, patience_s=0.05, exclude_after=2)).ledger.desynchronised
        for kill in ((), ((Kill((0,)), Window(3.0, 3.5)),))
    )
    assert 50 < alive < killed


def test_a_node_that_never_comes_back_does_not_end_the_run_of_the_others() -> None:
    found = run("virtual-time", faulty(everybody(), (Kill((2,)), Window(0.1)), patience_s=0.05, exclude_after=1))
    assert max(r.iteration for r in found.records if r.node != 2) == 39
    assert max(r.iteration for r in found.records if r.node == 2) < 12


@pytest.mark.parametrize("driver", ["lock-step", "vectorised"])
def test_drivers_without_a_clock_refuse_faults_that_need_one(driver: str) -> None:
    with pytest.raises(ParameterError, match=r"simulate\.driver: virtual-time"):
        run(driver, faulty(world(), (Cut(((0, 1),)), Window(1, 2))))
    with pytest.raises(ParameterError, match=r"simulate\.driver: lock-step"):
        run("vectorised", faulty(world(), (Cut(((0, 1),)), by_iteration(1, 2))))
