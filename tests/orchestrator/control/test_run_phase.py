"""The phases of a run, what it tells, and what goes wrong on the way."""

from itertools import product
from math import inf

import pytest

from contract.rpc import control_pb2 as pb
from orchestrator.control.run_messages import HANDLERS
from orchestrator.control.run_phase import BEFORE_START, NEXT, Phase, WrongPhase, moved
from orchestrator.control.run_problems import is_killed, unexplained
from orchestrator.results.health import RefusedLink
from pame.fault_effects import ContainerKillEffect, Effect, FaultEvent, KillEffect, PauseEffect, RestartEffect, Window

STEPS = """
gathering -> preparing ending
preparing -> verifying running ending
verifying -> running ending
running -> ending
ending -> evaluating idle
evaluating -> idle
idle ->
"""
ALLOWED = {
    (Phase(phase.strip()), Phase(to))
    for phase, _, following in (line.partition("->") for line in STEPS.split("\n") if line)
    for to in following.split()
}


@pytest.mark.parametrize(("phase", "to"), list(product(Phase, Phase)))
def test_a_run_takes_the_steps_of_the_table_and_no_others(phase: Phase, to: Phase) -> None:
    if (phase, to) in ALLOWED:
        assert moved(phase, to) is to
    else:
        with pytest.raises(WrongPhase):
            moved(phase, to)


def test_every_way_through_the_table_ends_with_a_run_that_is_over_and_passes_no_phase_twice() -> None:
    ways = [[Phase.GATHERING]]
    while any(NEXT[way[-1]] for way in ways):
        ways = [[*way, to] for way in ways for to in NEXT[way[-1]]] + [way for way in ways if not NEXT[way[-1]]]
        assert all(len(way) == len(set(way)) for way in ways)
    assert {tuple(way[-2:]) for way in ways} == {(Phase.ENDING, Phase.IDLE), (Phase.EVALUATING, Phase.IDLE)}
    assert set().union(*ways) == set(Phase)


def test_nothing_before_the_start_comes_after_it() -> None:
    assert not any(NEXT[phase] & BEFORE_START for phase in set(Phase) - BEFORE_START)


def test_every_kind_of_message_but_a_join_has_a_handler() -> None:
    kinds = {field.name for field in pb.FromNode.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert set(HANDLERS) == kinds - {"join"}


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
