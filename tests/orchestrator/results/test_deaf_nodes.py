"""Nodes that never heard anybody, although somebody could have told them something."""

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_setting
from orchestrator.results.never_heard import deaf_nodes
from orchestrator.results.round_counts import RoundCounts
from pame.fault_effects import CutEffect, FaultEvent, KillEffect, Window
from pame.observe import Record

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
