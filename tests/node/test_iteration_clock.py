"""When iterations are due: waiting and nominal time, and nothing that the machine adds. Seconds are made up."""

import pytest

from node.iteration_clock import IterationClock

STEP_S = 20.0


def iterate(clock: IterationClock, began: float, work: float, arrived: float | None = None) -> tuple[float, bool]:
    """One iteration that is begun at a moment and waits for what arrives then; when it rests, and if it overran."""
    clock.pause(began)
    goes_on = began if arrived is None else max(began, arrived)
    clock.resume(goes_on, clock.due if arrived is None else arrived)
    clock.step(STEP_S)
    return goes_on + work, clock.rest(goes_on + work)


def test_an_iteration_takes_its_nominal_time_whatever_part_of_it_is_work() -> None:
    clock = IterationClock(100.0)
    for number, work in enumerate((0.0, 5.0, 19.5), 1):
        assert not iterate(clock, clock.due, work)[1]
        assert clock.due == 100.0 + number * STEP_S
        assert not clock.wake(clock.due)


@pytest.mark.parametrize(
    ("start", "began", "arrived", "due"),
    [(0.0, 0.0, 7.0, 27.0), (0.0, 4.0, 1.0, 21.0), (50.0, 50.0, 30.0, 70.0)],
    ids=["waiting comes on top", "until it came, not until the node looked", "what came early shortens nothing"],
)
def test_the_nominal_time_counts_from_when_the_awaited_message_came(
    start: float, began: float, arrived: float, due: float
) -> None:
    clock = IterationClock(start)
    iterate(clock, began, work=3.0, arrived=arrived)
    assert clock.due == due


def test_sleeping_too_long_is_made_up_for_in_the_next_iteration() -> None:
    clock = IterationClock(0.0)
    iterate(clock, 0.0, work=3.0)
    assert not clock.wake(21.5)
    assert not iterate(clock, 21.5, work=3.0)[1]
    assert clock.due == 40.0


def test_work_that_does_not_fit_counts_and_is_not_made_up_for() -> None:
    clock = IterationClock(0.0)
    rests, overran = iterate(clock, 0.0, work=26.0)
    assert overran
    assert clock.due == rests == 26.0
    assert not clock.wake(26.0)
    assert not iterate(clock, 26.0, work=1.0)[1]
    assert clock.due == 46.0


def test_work_before_the_wait_counts_as_work_and_the_wait_does_not() -> None:
    clock = IterationClock(0.0)
    clock.pause(12.0)
    clock.resume(500.0, 500.0)
    clock.step(STEP_S)
    assert not IterationClock(0.0).is_timed
    assert clock.is_timed
    assert clock.rest(509.0)  # 12 + 9
    assert clock.due == 520.0  # which it has not missed


def test_a_sleep_that_ends_a_whole_nominal_time_late_counts_and_is_not_made_up_for() -> None:
    clock = IterationClock(0.0)
    iterate(clock, 0.0, work=3.0)
    assert clock.wake(20.0 + 30.0)
    assert clock.due == 50.0
    iterate(clock, 50.0, work=3.0)
    assert clock.due == 70.0


def test_many_small_delays_add_up_to_nothing() -> None:
    clock, now = IterationClock(0.0), 0.0
    for _ in range(100):
        rests, overran = iterate(clock, now, work=12.0)
        assert not overran
        now = max(rests, clock.due) + 1.5
        assert not clock.wake(now)
    assert clock.due == 100 * STEP_S


def test_without_a_nominal_time_an_iteration_takes_what_it_takes_and_nothing_overruns() -> None:
    clock = IterationClock(0.0)
    clock.pause(1.0)
    clock.resume(6.0, 6.0)
    clock.step(0.0)
    assert not clock.rest(8.0)
    assert clock.due == 8.0
    assert not clock.wake(9.0)
    assert clock.due == 9.0
