"""Whose death a plan explains, and which refusals a neighbour that came back does."""

from math import inf

import pytest

from orchestrator.control.run_problems import is_killed, unexplained
from orchestrator.results.health import RefusedLink
from pame.fault_effects import ContainerKillEffect, Effect, FaultEvent, KillEffect, PauseEffect, RestartEffect, Window

BY_CLOCK = Window(1.0, 2.0)
BY_ITERATION = Window(40, inf, "iterations", lasts_s=1.0)


@pytest.mark.parametrize(
    ("effect", "window", "is_disturbed", "explained"),
    [
        (KillEffect((1, 3)), BY_CLOCK, True, True),
        (RestartEffect((3,)), BY_CLOCK, True, True),
        (ContainerKillEffect((3,)), BY_CLOCK, True, True),
        (KillEffect((3,)), BY_CLOCK, False, False),  # long before, or long after
        (KillEffect((3,)), BY_ITERATION, False, True),  # what is known of its iteration is old
        (KillEffect((2,)), BY_CLOCK, True, False),
        (KillEffect((2,)), BY_ITERATION, True, False),
        (PauseEffect((3,)), BY_CLOCK, True, False),
    ],
)
def test_a_death_is_explained_by_a_kill_of_that_node_at_that_time(
    effect: Effect, window: Window, is_disturbed: bool, explained: bool
) -> None:
    plan = [FaultEvent(0, "fault", effect, window)]
    assert is_killed(plan, 3, is_disturbed) is explained


@pytest.mark.parametrize(
    ("refused", "accepted", "is_unaware", "left"),
    [
        ({"wrong_sender": 2, "no sender named": 1}, 5, True, {}),
        ({"wrong_sender": 2, "no sender named": 1}, 0, True, {}),
        ({"wrong_sender": 2}, 5, False, {"wrong_sender": 2}),
        ({"wrong_sender": 2, "bad_support": 1}, 5, True, {"bad_support": 1}),
        ({"duplicate": 2, "old_incarnation": 1}, 5, False, {}),
        ({"duplicate": 2}, 0, True, {"duplicate": 2}),
    ],
)
def test_a_neighbour_that_had_not_heard_who_came_back_refuses_with_good_reason(
    refused: dict[str, int], accepted: int, is_unaware: bool, left: dict[str, int]
) -> None:
    assert unexplained(RefusedLink(1, 2, refused, accepted), is_unaware).refused == left
