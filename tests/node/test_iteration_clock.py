"""When iterations are due: waiting and nominal time, and nothing that the machine adds. Seconds are made up."""

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


def test_waiting_comes_on_top_of_the_nominal_time() -> None:
    clock = IterationClock(0.0)
    iterate(clock, 0.0, work=3.0, arrived=7.0)
    assert clock.due == 27.0


def test_a_message_that_came_before_the_node_looked_is_waited_for_until_it_came() -> None:
    clock = IterationClock(0.0)
    iterate(clock, 4.0, work=3.0, arrived=1.0)  # four seconds of work came first
    assert clock.due == 21.0


def test_what_came_early_makes_no_iteration_shorter() -> None:
    clock = IterationClock(50.0)
    iterate(clock, 50.0, work=3.0, arrived=30.0)
    assert clock.due == 70.0


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
