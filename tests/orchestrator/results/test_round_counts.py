"""Rounds by window."""

from math import inf
from typing import Any

import pytest

from orchestrator.results.round_counts import RoundCounts
from pame.fault_effects import CutEffect, DropEffect, FaultEvent, KillEffect
from tests.orchestrator.report.builders import event
from tests.orchestrator.results.builders import record, setting_of

LINKS = ((0, 1), (1, 0))


def counts(*events: FaultEvent, **sections: Any) -> RoundCounts:
    seen = RoundCounts(setting_of(**{"nodes": 6, "period": 3, "exchange": {"patience": "2s"}, **sections}))
    seen.add(events)
    return seen


def test_rounds_are_counted_and_other_iterations_are_not() -> None:
    seen = counts()
    seen.recorded([record(received=2), record(received=1), record(wanted=0), record()])
    assert (seen.rounds, seen.starved, seen.expected, seen.averaged) == (3, 1, 6.0, 3)


def test_what_starves_while_a_fault_is_in_force_or_felt_is_not_held_against_the_run() -> None:
    seen = counts(event(CutEffect(LINKS), 10.0, 20.0))
    # a wait that began in the window can last 2 s, and a stream takes up to 5 s to come back
    for moment, starved in ((9.9, 1), (10.0, 1), (20.0, 1), (26.9, 1), (27.1, 2)):
        seen.recorded([record(seconds=moment)])
        assert seen.unexplained_starved == starved, moment


def test_a_window_in_iterations_is_felt_two_periods_around() -> None:
    seen = counts(event(DropEffect(LINKS, 0.5), 100, 110, "iterations"))
    for iteration, starved in ((93, 1), (94, 1), (116, 1), (117, 2)):
        seen.recorded([record(iteration=iteration)])
        assert seen.unexplained_starved == starved, iteration


def test_who_is_killed_at_an_iteration_explains_all_that_comes_after_it() -> None:
    seen = counts(event(KillEffect((1,)), 100, inf, "iterations", lasts_s=3.0))
    seen.recorded([record(iteration=90), record(iteration=100), record(iteration=5000)])
    assert seen.starved == 1


def test_what_was_averaged_in_a_disturbed_round_counts_as_heard() -> None:
    seen = counts(event(CutEffect(LINKS), 0.0, inf))
    seen.recorded([record(received=2)])
    assert (seen.rounds, seen.averaged) == (0, 2)


@pytest.mark.parametrize("sections", [{"compute": {"stragglers": 0.2}}, {"exchange": {"mode": "free"}}])
def test_stragglers_and_free_explain_starving_all_along(sections: dict[str, Any]) -> None:
    seen = counts(**sections)
    seen.recorded([record()] * 100)
    assert (seen.starved, seen.unexplained_starved) == (100, 0)
    assert counts().unexplained_starved == 0


def test_loss_explains_as_many_starved_rounds_as_a_draw_can_have() -> None:
    """400 rounds of two messages, 0.3 of them lost: 36 starve on average, 66 and 3 are beyond five deviations."""
    seen = counts(messages={"loss": 0.3})
    seen.recorded([record(received=2)] * 331 + [record()] * 69)
    assert seen.unexplained_starved == 0
    seen.recorded([record()] * 2)
    assert seen.unexplained_starved == 71


def test_a_free_run_that_ends_before_a_message_can_be_there_is_not_silent() -> None:
    seen = counts(exchange={"mode": "free"}, links={"delay": "500ms"})
    seen.recorded([record(seconds=0.9)] * 50)
    assert not seen.is_silence_certain
    seen.recorded([record(seconds=1.1)])
    assert seen.is_silence_certain


def test_a_moment_is_disturbed_by_the_clock_or_by_the_iteration() -> None:
    assert not counts().is_disturbed(5.0, 30)
    seen = counts(event(CutEffect(LINKS), 4.0, 6.0), event(DropEffect(LINKS, 0.5), 100, 110, "iterations", 1))
    assert seen.is_disturbed(5.0, 30)
    assert seen.is_disturbed(99.0, 100)
    assert seen.is_disturbed(None, 100)
    assert not seen.is_disturbed(99.0, 30)


def test_only_what_is_not_lost_on_purpose_is_expected() -> None:
    seen = counts(messages={"loss": 0.75})
    seen.recorded([record(wanted=2)] * 10)
    assert seen.expected == 5.0
    assert not seen.is_silence_certain  # five messages may all be lost
    seen.recorded([record(wanted=2)] * 10)
    assert seen.is_silence_certain


@pytest.mark.parametrize(
    ("sections", "on_purpose"),
    [({}, False), ({"messages": {"loss": 0.1}}, True), ({"compute": {"stragglers": 0.2}}, True)],
)
def test_what_explains_gaps_beside_rounds(sections: dict[str, Any], on_purpose: bool) -> None:
    assert counts(**sections).is_on_purpose is on_purpose
    assert counts(event(CutEffect(LINKS), 10.0, 20.0), **sections).is_on_purpose
