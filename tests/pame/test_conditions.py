"""The questions that drivers ask of the conditions of a run: mostly, what a plan of faults does."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pame.conditions import Conditions, Loss
from pame.fault_effects import (
    ContainerKillEffect,
    ContainerRestartEffect,
    CpuQuotaEffect,
    CutEffect,
    DegradeEffect,
    DropEffect,
    FaultEvent,
    KillEffect,
    PauseEffect,
    RestartEffect,
    SlowEffect,
    Window,
)
from pame.links import LinkSpec
from pame.rules import Compute, Messages

LINK, OTHER = (0, 1), (1, 0)


def plan(*events: tuple[object, Window], loss: float = 0.0, link: LinkSpec | None = None) -> Conditions:
    made = [FaultEvent(number, "test", effect, window) for number, (effect, window) in enumerate(events)]  # type: ignore[arg-type]
    return Conditions(1, 6, Messages(loss=loss), Compute(step_s=1.0), link or LinkSpec(), plan=tuple(made))


def iterations(begin: float, end: float = inf) -> Window:
    return Window(begin, end, "iterations")


def test_a_cut_by_iteration_drops_what_is_sent_in_its_window_and_only_on_its_link() -> None:
    found = plan((CutEffect((LINK,)), iterations(3, 5)))
    assert [found.lost_share(*LINK, k) for k in range(7)] == [0, 0, 0, 1, 1, 0, 0]
    assert found.lost_share(*OTHER, 3) == 0
    assert found.lost_share_at(*LINK, 3.5) == 0
    assert found.held_until(*LINK, 3.5) == 3.5


def test_shares_of_several_faults_are_independent() -> None:
    drops = (DropEffect((LINK,), 0.5), iterations(0)), (DropEffect((LINK,), 0.2), iterations(2, 3))
    found = plan(*drops)
    assert found.lost_share(*LINK, 0) == pytest.approx(0.5)
    assert found.lost_share(*LINK, 2) == pytest.approx(0.6)
    assert plan(*drops, loss=0.5).lost_share(*LINK, 2) == pytest.approx(0.8)
    timed = plan((DropEffect((LINK,), 0.5), Window(1.0, 2.0)))
    assert timed.lost_share(*LINK, 1) == timed.lost_share_at(*LINK, 2.0) == 0
    assert timed.lost_share_at(*LINK, 1.5) == pytest.approx(0.5)


def test_a_cut_by_the_clock_holds_what_is_sent_until_the_last_of_them_ends() -> None:
    found = plan(
        (CutEffect((LINK,)), Window(1, 3)), (CutEffect((LINK, OTHER)), Window(2, 5)), (CutEffect((LINK,)), Window(5, 6))
    )
    assert [found.held_until(*LINK, t) for t in (0.5, 1, 2.9, 5.5, 6)] == [0.5, 6, 6, 6, 6]
    assert found.held_until(*OTHER, 1.5) == 1.5
    assert plan((CutEffect((LINK,)), Window(1))).held_until(*LINK, 2) == inf


def test_a_worse_link_is_worse_by_its_factors_and_only_for_its_time() -> None:
    spec = LinkSpec(0.2, 0.0, 100.0)
    found = plan(
        (DegradeEffect((LINK,), 2.0, 0.5, 0.1, 0.1, 0.5), Window(1, 2)),
        (DegradeEffect((LINK,), loss=0.5), Window(0, 9)),
        link=spec,
    )
    for seconds, expected in ((1.5, LinkSpec(0.9, 0.1, 50.0, loss=0.55)), (2.5, LinkSpec(0.2, 0.0, 100.0, loss=0.5))):
        worse = found.link_at(*LINK, seconds)
        assert worse.loss == pytest.approx(expected.loss)
        assert replace(worse, loss=expected.loss) == expected
    assert found.link_at(*OTHER, 1.5) == spec


def test_slow_nodes_are_slow_by_iteration_or_by_the_clock() -> None:
    found = plan((SlowEffect((3,), 10.0), iterations(5, 7)), (SlowEffect((3, 4), 2.0), Window(1.0, 2.0)))
    assert found.step_seconds(3, 5, 0.0) == 10
    assert found.step_seconds(3, 6, 1.5) == 20
    assert found.step_seconds(4, 5, 1.5) == 2
    assert found.step_seconds(5, 5, 1.5) == 1


def test_pauses_join_and_absences_are_listed_by_time() -> None:
    found = plan(
        (PauseEffect((1, 2)), Window(1, 3)),
        (PauseEffect((1,)), Window(3, 4)),
        (KillEffect((2,)), Window(7, 9)),
        (RestartEffect((0, 1)), Window(5, 6)),
    )
    assert [found.paused_until(1, t) for t in (0.9, 1, 3.5, 4)] == [0.9, 4, 4, 4]
    assert found.paused_until(2, 2) == 3
    assert [(node, event.window.begin) for node, event in found.absences()] == [(0, 5), (1, 5), (2, 7)]


def test_what_happens_to_a_container_happens_to_its_node() -> None:
    found = plan(
        (ContainerKillEffect((2,)), Window(7, 9)),
        (ContainerRestartEffect((0,)), Window(5, 6)),
        (CpuQuotaEffect((1,), 4.0), Window(1, 2)),
    )
    assert [(node, event.window.end) for node, event in found.absences()] == [(0, 6), (2, 9)]
    assert [found.step_seconds(1, 0, t) for t in (0.9, 1.0, 2.0)] == [1, 4, 1]


def test_a_plan_is_public_if_nothing_in_it_goes_by_the_clock() -> None:
    assert plan().is_public
    assert plan((CutEffect((LINK,)), iterations(1)), (DropEffect((LINK,), 0.1), iterations(2))).is_public
    assert not plan((CutEffect((LINK,)), Window(1))).is_public
    assert not plan((SlowEffect((1,), 2.0), iterations(1))).is_public
    assert not plan((PauseEffect((1,)), Window(1, unit="iterations", lasts_s=2.0))).is_public


windows = st.tuples(st.floats(0, 50), st.floats(0, 20)).map(lambda pair: Window(pair[0], pair[0] + pair[1]))


@given(st.lists(windows, max_size=8), st.floats(0, 100))
def test_whoever_is_held_is_free_at_the_end_and_not_before(ends: list[Window], now: float) -> None:
    found = plan(*((CutEffect((LINK,)), window) for window in ends), *((PauseEffect((0,)), window) for window in ends))
    for until in (found.held_until(*LINK, now), found.paused_until(0, now)):
        assert until >= now
        assert not any(until in window for window in ends)
        if until > now:
            assert any(until == window.end for window in ends)
            assert any(now in window for window in ends)


def test_a_node_is_stopped_at_its_iteration_and_not_by_the_clock() -> None:
    found = plan(
        (PauseEffect((0, 1)), Window(3, unit="iterations", lasts_s=2.0)),
        (KillEffect((0,)), Window(3, unit="iterations", lasts_s=1.0)),
        (RestartEffect((0,)), Window(4, unit="iterations", lasts_s=1.0)),
    )
    struck = {(node, k): [event.number for event in found.strikes(node, k)] for node in (0, 1, 2) for k in (2, 3, 4)}
    assert {place: numbers for place, numbers in struck.items() if numbers} == {
        (0, 3): [0, 1],
        (1, 3): [0],
        (0, 4): [2],
    }
    assert found.absences() == []
    assert found.paused_until(0, 3.0) == 3.0


def test_a_message_is_lost_foreseen_or_unforeseen_or_goes() -> None:
    both = plan((CutEffect((LINK,)), iterations(3, 5)), (DropEffect((LINK,), 1.0), Window(1.0, 2.0)))
    found = [both.loss(*LINK, k, seconds) for k, seconds in ((2, 0.5), (2, 1.5), (3, 0.5), (3, 1.5))]
    assert found == [Loss.NONE, Loss.UNFORESEEN, Loss.FORESEEN, Loss.FORESEEN]
    assert both.loss(*LINK, 2) is Loss.NONE, "without a clock nothing happens by the clock"


def test_nodes_lag_behind_if_some_are_slow_or_something_goes_by_the_clock() -> None:
    even = plan((CutEffect((LINK,)), iterations(1)))
    assert not even.keep_nodes_apart
    assert plan((CutEffect((LINK,)), Window(1))).keep_nodes_apart
    slow = replace(even, compute=Compute(stragglers=0.3, slowdown=4.0, step_s=1.0))
    assert slow.keep_nodes_apart
    assert len(slow.slow_nodes) == 2
    assert [slow.step_seconds(node, 0, 0.0) for node in range(6)] == [
        4.0 if node in slow.slow_nodes else 1.0 for node in range(6)
    ]
