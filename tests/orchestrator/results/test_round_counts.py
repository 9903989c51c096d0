"""Rounds by window, and nodes that hear nobody."""

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_setting
from orchestrator.results.round_counts import RoundCounts, deaf_nodes
from pame.fault_effects import CutEffect, DropEffect, FaultEvent, KillEffect, Window
from pame.observe import Record

LINKS = ((0, 1), (1, 0))


def counts(**sections: Any) -> RoundCounts:
    common = {"nodes": 6, "topology": {"kind": "ring"}, "period": 3, "exchange": {"patience": "2s"}}
    experiment = Experiment.model_validate_json(json.dumps({**common, **sections}))
    return RoundCounts(make_setting(experiment, Path()))


def record(seconds: float = 1.0, iteration: int = 30, wanted: int = 2, received: int = 0) -> Record:
    starved = int(wanted > 0 and not received)
    return Record(0, iteration, seconds, 0.0, wanted, received, None, starved, 0, 0, 0, 0, None)


def test_rounds_are_counted_and_other_iterations_are_not() -> None:
    seen = counts()
    seen.recorded([record(received=2), record(received=1), record(wanted=0), record()])
    assert (seen.rounds, seen.starved, seen.expected, seen.averaged) == (3, 1, 6.0, 3)


def test_what_starves_while_a_fault_is_in_force_or_felt_is_not_held_against_the_run() -> None:
    seen = counts()
    seen.add([FaultEvent(0, "link-down", CutEffect(LINKS), Window(10.0, 20.0))])
    # a wait that began in the window can last 2 s, and a stream takes up to 5 s to come back
    for moment, starved in ((9.9, 1), (10.0, 1), (20.0, 1), (26.9, 1), (27.1, 2)):
        seen.recorded([record(seconds=moment)])
        assert seen.unexplained_starved == starved, moment


def test_a_window_in_iterations_is_felt_two_periods_around() -> None:
    seen = counts()
    seen.add([FaultEvent(0, "message-loss", DropEffect(LINKS, 0.5), Window(100, 110, "iterations"))])
    for iteration, starved in ((93, 1), (94, 1), (116, 1), (117, 2)):
        seen.recorded([record(iteration=iteration)])
        assert seen.unexplained_starved == starved, iteration


def test_who_is_killed_at_an_iteration_explains_all_that_comes_after_it() -> None:
    seen = counts()
    seen.add([FaultEvent(0, "kill", KillEffect((1,)), Window(100, inf, "iterations", lasts_s=3.0))])
    seen.recorded([record(iteration=90), record(iteration=100), record(iteration=5000)])
    assert seen.starved == 1


def test_what_was_averaged_in_a_disturbed_round_counts_as_heard() -> None:
    seen = counts()
    seen.add([FaultEvent(0, "link-down", CutEffect(LINKS), Window(0.0, inf))])
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
    seen = counts()
    assert not seen.is_disturbed(5.0, 30)
    seen.add([FaultEvent(0, "link-down", CutEffect(LINKS), Window(4.0, 6.0))])
    seen.add([FaultEvent(1, "message-loss", DropEffect(LINKS, 0.5), Window(100, 110, "iterations"))])
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
    seen = counts(**sections)
    assert seen.is_on_purpose is on_purpose
    seen.add([FaultEvent(0, "link-down", CutEffect(LINKS), Window(10.0, 20.0))])
    assert seen.is_on_purpose


NODES = 4
ALWAYS = Window(0.0, inf)


def deaf(
    heard: Sequence[int], *events: FaultEvent, rounds: int = 20, seconds: float = 9.0, **sections: Any
) -> list[int]:
    """Of a ring in which each node averaged so many messages in all."""
    made = {"nodes": NODES, "topology": {"kind": "ring"}, **sections}
    setting = make_setting(Experiment.model_validate_json(json.dumps(made)), Path())
    counts = RoundCounts(setting)
    counts.add(events)
    for node in range(NODES):
        for k in range(rounds):
            received = heard[node] if k == 0 else 0
            counts.recorded([Record(node, k, seconds, 0.0, 1, received, None, int(not received), 0, 0, 0, 0, None)])
    return deaf_nodes(counts, setting, events)


def cut(*links: tuple[int, int]) -> FaultEvent:
    return FaultEvent(0, "link-down", CutEffect(links), ALWAYS)


def test_who_averaged_one_message_is_not_deaf() -> None:
    assert deaf([1, 0, 3, 0]) == [1, 3]


def test_a_fault_elsewhere_excuses_nobody() -> None:
    assert deaf([0] * NODES, cut((0, 1))) == [0, 1, 2, 3]  # node 1 has another neighbour


def test_who_is_cut_off_from_all_neighbours_is_excused() -> None:
    assert deaf([1, 0, 1, 1], cut((0, 1), (2, 1))) == []
    assert deaf([1, 0, 1, 1], FaultEvent(0, "kill", KillEffect((0, 2)), ALWAYS)) == []
    assert deaf([1, 0, 1, 1], FaultEvent(0, "kill", KillEffect((1,)), ALWAYS)) == []


def test_slow_neighbours_excuse_and_a_slow_node_elsewhere_does_not() -> None:
    assert deaf([0] * NODES, compute={"stragglers": 1.0, "slowdown": 50}) == []
    found = deaf([0] * NODES, compute={"stragglers": 0.25, "slowdown": 50})
    assert len(found) == NODES - 1  # all but the slow one, whose messages and waits are its own


def test_where_chance_plays_a_part_it_takes_more_to_be_sure() -> None:
    for sections in ({"exchange": {"mode": "free"}}, {"messages": {"loss": 0.5}}):
        assert deaf([0] * NODES, rounds=9, **sections) == []
        assert deaf([0] * NODES, rounds=10, **sections) == [0, 1, 2, 3]
    assert deaf([0] * NODES, messages={"loss": 1.0}) == []
    assert deaf([0] * NODES, rounds=2) == []


def test_a_run_without_waiting_that_is_shorter_than_its_links_tells_nothing() -> None:
    sections: dict[str, Any] = {"exchange": {"mode": "free"}, "links": {"delay": "5s"}}
    assert deaf([0] * NODES, seconds=9.0, **sections) == []
    assert deaf([0] * NODES, seconds=11.0, **sections) == [0, 1, 2, 3]
