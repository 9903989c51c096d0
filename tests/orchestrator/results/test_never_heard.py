"""Links and nodes of which nothing was ever averaged."""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import pytest

from orchestrator.results.round_counts import RoundCounts, deaf_nodes, unheard_links
from pame.byte_account import ByteAccount, Fate, LinkRows
from pame.fault_effects import CutEffect, DegradeEffect, Effect, FaultEvent, KillEffect
from tests.orchestrator.report.builders import event
from tests.orchestrator.results.builders import record, setting_of

NODES = 4
COMPLETE = setting_of(nodes=NODES, topology={"kind": "complete"})


def links(sent: int = 40, used: int = 0) -> LinkRows:
    """3→0 carried so many and so many were averaged; 1→0 is well."""
    account = ByteAccount(4)
    for fate, counts in ((Fate.SENT, (sent, 9)), (Fate.AGGREGATED, (used, 9))):
        account.add_totals(fate, np.array([3, 1]), np.array([0, 0]), np.array(counts), np.array([0, 0]))
    return account.links()


@pytest.mark.parametrize(
    ("carried", "unheard"),
    [({}, [(3, 0)]), ({"used": 1}, []), ({"sent": 2}, [])],
    ids=["nothing was averaged", "one message is enough", "two may just have been under way"],
)
def test_a_link_of_which_nothing_was_averaged_is_found(carried: dict[str, int], unheard: list[tuple[int, int]]) -> None:
    assert unheard_links(links(**carried), COMPLETE, ()) == unheard


@pytest.mark.parametrize(
    "sections",
    [
        {"exchange": {"spare": 1}},
        {"exchange": {"spare": "all"}},
        {"exchange": {"mode": "free"}},
        {"compute": {"stragglers": 0.3}},
    ],
)
def test_where_not_everybody_counts_nobody_is_missed(sections: dict[str, Any]) -> None:
    assert unheard_links(links(), setting_of(nodes=NODES, topology={"kind": "complete"}, **sections), ()) == []


@pytest.mark.parametrize(
    ("effect", "explains"),
    [
        (CutEffect(((3, 0),)), True),
        (DegradeEffect(((3, 0), (0, 3)), delay_s=9.0), True),
        (KillEffect((3,)), True),
        (KillEffect((0,)), True),
        (CutEffect(((0, 3), (1, 0))), False),
        (KillEffect((1,)), False),
    ],
)
def test_only_what_the_plan_concerns_is_explained(effect: Any, explains: bool) -> None:
    assert unheard_links(links(), COMPLETE, [event(effect, 1.0, 2.0)]) == ([] if explains else [(3, 0)])


def deaf(
    heard: Sequence[int], *events: FaultEvent, rounds: int = 20, seconds: float = 9.0, **sections: Any
) -> list[int]:
    """Of a ring in which each node averaged so many messages in all."""
    setting = setting_of(nodes=NODES, **sections)
    counts = RoundCounts(setting)
    counts.add(events)
    for node in range(NODES):
        counts.recorded([record(node, seconds, 0, wanted=1, received=heard[node])])
        counts.recorded([record(node, seconds, k, wanted=1) for k in range(1, rounds)])
    return deaf_nodes(counts, setting, events)


def always(effect: Effect) -> FaultEvent:
    return event(effect, 0.0, inf)


def test_who_averaged_one_message_is_not_deaf() -> None:
    assert deaf([1, 0, 3, 0]) == [1, 3]


def test_a_fault_elsewhere_excuses_nobody() -> None:
    assert deaf([0] * NODES, always(CutEffect(((0, 1),)))) == [0, 1, 2, 3]  # node 1 has another neighbour


def test_who_is_cut_off_from_all_neighbours_is_excused() -> None:
    assert deaf([1, 0, 1, 1], always(CutEffect(((0, 1), (2, 1))))) == []
    assert deaf([1, 0, 1, 1], always(KillEffect((0, 2)))) == []
    assert deaf([1, 0, 1, 1], always(KillEffect((1,)))) == []


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
