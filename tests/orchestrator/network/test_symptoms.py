"""Whose death a plan explains."""

from math import inf

import pytest

from orchestrator.network.symptoms import is_killed
from pame.faults import ContainerKill, Effect, Event, Kill, Pause, Restart, Window

BY_CLOCK = Window(1.0, 2.0)
BY_ITERATION = Window(40, inf, "iterations", lasts_s=1.0)


@pytest.mark.parametrize(
    ("effect", "window", "is_disturbed", "explained"),
    [
        (Kill((1, 3)), BY_CLOCK, True, True),
        (Restart((3,)), BY_CLOCK, True, True),
        (ContainerKill((3,)), BY_CLOCK, True, True),
        (Kill((3,)), BY_CLOCK, False, False),  # long before, or long after
        (Kill((3,)), BY_ITERATION, False, True),  # what is known of its iteration is old
        (Kill((2,)), BY_CLOCK, True, False),
        (Kill((2,)), BY_ITERATION, True, False),
        (Pause((3,)), BY_CLOCK, True, False),
    ],
)
def test_a_death_is_explained_by_a_kill_of_that_node_at_that_time(
    effect: Effect, window: Window, is_disturbed: bool, explained: bool
) -> None:
    plan = [Event(0, "fault", effect, window)]
    assert is_killed(plan, 3, is_disturbed) is explained
