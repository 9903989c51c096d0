"""Who comes back is not stopped again by what has stopped it at an iteration already."""

from math import inf

import pytest

from contract.fault_reports import Turn, fault_message
from orchestrator.control.fired_faults import FiredFaults
from pame.fault_effects import CutEffect, FaultEvent, KillEffect, PauseEffect, Window
from pame.fault_plan_text import plan_lines, read_plan

CUT = FaultEvent(0, "link-down", CutEffect(((2, 1),)), Window(30, 50, "iterations"))
KILLS = [FaultEvent(1, "kill", KillEffect((2, 3)), Window(k, unit="iterations", lasts_s=3.0)) for k in (40, 90)]
PAUSE = FaultEvent(2, "pause", PauseEffect((2,)), Window(40, unit="iterations", lasts_s=inf))
PLAN = (CUT, *KILLS, PAUSE)


def told(*turns: tuple[int, FaultEvent, bool, float]) -> FiredFaults:
    strikes = FiredFaults()
    for node, event, begins, seconds in turns:
        strikes.heard(node, fault_message(7, Turn(event, begins, seconds, 40)))
    return strikes


def left(strikes: FiredFaults, node: int) -> tuple[FaultEvent, ...]:
    return tuple(read_plan(strikes.left(node, "\n".join(plan_lines(PLAN)))))


def test_the_order_that_was_carried_out_is_left_out_for_its_node_alone() -> None:
    strikes = told((2, CUT, True, 8.0), (2, KILLS[0], True, 9.0))
    assert left(strikes, 2) == (CUT, KILLS[1], PAUSE)
    assert left(strikes, 3) == PLAN


def test_nothing_is_left_out_of_the_plan_of_a_node_that_died_by_itself() -> None:
    assert left(told(), 2) == PLAN


@pytest.mark.parametrize(("seconds", "count"), [(8.9, 1), (9.0, 1), (11.9, 1), (12.0, 1), (14.9, 1), (15.0, 0)])
def test_an_order_is_in_force_as_long_as_it_lasts_for_somebody(seconds: float, count: int) -> None:
    strikes = told((2, CUT, True, 8.0), (2, KILLS[0], True, 9.0), (3, KILLS[0], True, 12.0))
    assert strikes.active(PLAN, seconds) == count


def test_an_order_without_an_end_is_in_force_from_then_on() -> None:
    assert told().active(PLAN, 1e9) == 0
    assert told((2, PAUSE, True, 9.0)).active(PLAN, 1e9) == 1
