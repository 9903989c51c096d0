"""What the page is told of the plan: past, now, next; where it lies on each axis; what links and nodes suffer now."""

from math import inf
from typing import Any

import pytest

from orchestrator.experiment.faults.happened import Told
from orchestrator.live import state
from orchestrator.live.fault_windows import Disturbed, FaultWindows, RunClock, disturbed_now
from pame.fault_effects import (
    CutEffect,
    DegradeEffect,
    DropEffect,
    Effect,
    FaultEvent,
    KillEffect,
    PauseEffect,
    SlowEffect,
    Window,
)

CUT = CutEffect(((0, 1), (1, 0)))
STEADY = [[float(second), 1000.0 * second, 10.0 * second] for second in range(31)]
"""Ten iterations and 1000 bytes a second, for half a minute."""


def clock(seconds: float, *places: int, is_over: bool = False) -> RunClock:
    iterations = places or (int(10 * seconds),) * 3
    return RunClock(seconds, iterations, STEADY[: int(seconds) + 1], min(iterations), is_over)


def event(effect: Effect, window: Window, number: int = 0) -> FaultEvent:
    return FaultEvent(number, f"a test: {number}", effect, window)


def told(seconds: float, node: int = 0, begins: bool = True, planned: float = 10.0, failure: str = "") -> Told:
    return Told(0, node, begins, planned, seconds, failure)


def row_of(one: FaultEvent, at: RunClock, *words: Told, back: tuple[float, int] | None = None) -> dict[str, Any]:
    events = [{"what": "restarted", "seconds": back[0], "node": back[1]}] if back else []
    [row] = FaultWindows().rows([one], words, events, at)
    return row


@pytest.mark.parametrize(
    ("seconds", "words", "expected"),
    [
        pytest.param(9.0, (), "next", id="before"),
        pytest.param(10.5, (told(10.0), told(10.1, 1)), "now", id="begun"),
        pytest.param(10.5, (), "now", id="by-the-plan-as-nobody-has-told-yet"),
        pytest.param(10.5, (told(10.0, failure="no netem"),), "failed", id="failed"),
        pytest.param(20.5, (told(10.0), told(10.1, 1)), "now", id="the-end-is-not-told-yet"),
        pytest.param(
            20.5, (told(10.0), told(10.1, 1), told(20.0, 0, False, 20.0), told(20.1, 1, False, 20.0)), "past", id="over"
        ),
        pytest.param(23.0, (told(10.0),), "past", id="nobody-told-the-end"),
    ],
)
def test_a_window_in_seconds_is_next_now_or_past_by_what_was_told(
    seconds: float, words: tuple[Told, ...], expected: str
) -> None:
    assert row_of(event(CUT, Window(10.0, 20.0)), clock(seconds), *words)["state"] == expected


def test_a_window_in_iterations_is_over_when_the_slowest_living_node_has_passed_it() -> None:
    window = event(CUT, Window(100, 200, "iterations"))
    begun = (told(10.0, planned=100), told(11.0, 1, planned=100))
    assert row_of(window, clock(9.0, 90, 90, 90))["state"] == "next"
    assert row_of(window, clock(25.0, 250, 250, 150), *begun)["state"] == "now"
    assert row_of(window, clock(25.0, 250, 250, 200), *begun)["state"] == "past"


def test_what_stops_a_node_at_an_iteration_lasts_from_when_the_node_came_there() -> None:
    window = event(PauseEffect((2,)), Window(100, 100, "iterations", lasts_s=5.0))
    word = told(12.0, 2, planned=100)
    assert row_of(window, clock(11.0, 120, 120, 80))["state"] == "next"
    assert row_of(window, clock(14.0, 140, 140, 100), word)["state"] == "now"
    assert row_of(window, clock(19.5, 190, 190, 100), word)["state"] == "past"
    assert disturbed_now([window], [word], clock(14.0, 140, 140, 100)).paused == {2}
    assert disturbed_now([window], [word], clock(17.5, 170, 170, 100)) == Disturbed()


def test_a_killed_node_cannot_tell_the_end_which_is_when_it_is_back() -> None:
    window = event(KillEffect((1,)), Window(10.0, 12.0))
    assert row_of(window, clock(13.5), told(10.0, 1))["state"] == "now"
    assert row_of(window, clock(13.5), told(10.0, 1), back=(13.0, 1))["state"] == "past"
    assert row_of(window, clock(13.5), told(10.0, 1), back=(13.0, 1))["on"]["seconds"] == [10.0, 13.0]


def test_what_a_run_did_not_come_to_is_missed() -> None:
    assert row_of(event(CUT, Window(40.0, 50.0)), clock(30.0, is_over=True))["state"] == "missed"
    assert row_of(event(CUT, Window(20.0)), clock(30.0, is_over=True), told(20.0, planned=20.0))["state"] == "past"


def test_a_window_has_its_place_on_every_axis_as_far_as_the_run_has_come() -> None:
    open_ended = event(CUT, Window(10.0), 0)
    row = row_of(open_ended, clock(30.0), told(10.0))
    assert row["on"] == {"seconds": [10.0, 30.0], "iteration": [100.0, 300.0], "bytes": [10_000.0, 30_000.0]}
    assert (row["begin"], row["end"], row["unit"]) == (10.0, None, "seconds")
    by_iteration = row_of(event(CUT, Window(50, 150, "iterations")), clock(30.0))
    assert by_iteration["on"] == {"seconds": [5.0, 15.0], "iteration": [50, 150], "bytes": [5000.0, 15_000.0]}
    to_come = row_of(event(CUT, Window(40.0, 50.0)), clock(30.0))
    assert to_come["on"] == {"seconds": None, "iteration": None, "bytes": None}


def test_many_windows_are_told_fault_by_fault_and_in_order_of_time() -> None:
    flapping = [event(CUT, Window(20.0 + k, 20.5 + k), 0) for k in range(60)]
    rows = FaultWindows().rows([*flapping, event(CUT, Window(5.0, 6.0), 1)], [], [], clock(30.0))
    assert [(row["number"], row["windows"], row["begin"], row["end"], row["state"]) for row in rows] == [
        (1, 1, 5.0, 6.0, "past"),
        (0, 60, 20.0, 79.5, "now"),
    ]


def test_the_plan_is_read_anew_when_a_fault_came_by_hand() -> None:
    windows, first = FaultWindows(), event(CUT, Window(10.0, 20.0))
    assert len(windows.rows([first], [], [], clock(1.0))) == 1
    assert len(windows.rows([first, event(CUT, Window(2.0, 3.0), 1)], [], [], clock(2.5))) == 2


def test_links_and_nodes_are_marked_by_what_is_done_to_them_now() -> None:
    second = Window(10.0, 20.0)
    plan = [
        event(CutEffect(((0, 1),)), second),
        event(DropEffect(((0, 1), (1, 2)), 0.5), second),
        event(DegradeEffect(((2, 0), (0, 1)), delay_s=0.1), second),
        event(DegradeEffect(((2, 1),), loss=0.1), second),
        event(SlowEffect((0,), 4.0), second),
        event(PauseEffect((2,)), second),
        event(CutEffect(((1, 0), (2, 0))), Window(100, 200, "iterations")),
        event(CutEffect(((0, 2),)), Window(0.0, 10.0)),
    ]
    found = disturbed_now(plan, [], clock(15.0, 150, 90, 250))
    assert found.links == {(0, 1): "cut", (1, 2): "lossy", (2, 0): "slow", (2, 1): "lossy"}
    assert (found.paused, found.slowed) == ({2}, {0})
    assert disturbed_now(plan, [], clock(15.0, 150, 150, 250)).links[1, 0] == "cut"
    assert disturbed_now(plan, [], clock(15.0, is_over=True)) == Disturbed()
    assert disturbed_now([event(CUT, Window(0.0, inf))], [], clock(15.0)).links == {(0, 1): "cut", (1, 0): "cut"}


def test_of_many_links_the_marks_of_both_directions_are_one() -> None:
    disturbed = Disturbed({(3, 1): "cut", (1, 3): "cut", (1, 2): "slow"})
    assert state.marked(disturbed, directed=True) == [(1, 2, "slow"), (1, 3, "cut"), (3, 1, "cut")]
    assert state.marked(disturbed, directed=False) == [(1, 2, "slow"), (1, 3, "cut")]
