"""The tables of an edge between nodes with replicas, walked pair by pair: a step that they have, or a refusal."""

from enum import Enum
from itertools import product

import pytest

from pame.algorithms.replica_state import HELD_NEXT, KNOWS_NEXT, Heard, Held, ImpossibleStep, Knows, Sent, after

HELD = """
          UPDATE    WHOLE   GAP     RETURN
SOUND     SOUND     SOUND   STALE   UNKNOWN
STALE     STALE     SOUND   STALE   UNKNOWN
UNKNOWN   UNKNOWN   SOUND   -       UNKNOWN
"""
KNOWS = """
             UPDATE   WHOLE   LOST_UPDATE   LOST_OTHER   LOST_NOTHING   MISSED    RETURN
ALL          ALL      ALL     LACKS_LAST    LACKS_MORE   ALL            NOTHING   NOTHING
LACKS_LAST   ALL      ALL     LACKS_MORE    LACKS_MORE   LACKS_MORE     NOTHING   NOTHING
LACKS_MORE   -        ALL     LACKS_MORE    LACKS_MORE   LACKS_MORE     NOTHING   NOTHING
NOTHING      -        ALL     NOTHING       NOTHING      NOTHING        NOTHING   NOTHING
"""


def steps(text: str) -> dict[tuple[str, str], str]:
    """By state and event: the next state, or `-`."""
    events, *rows = (line.split() for line in text.strip().splitlines())
    return {(state, event): to for state, *following in rows for event, to in zip(events, following, strict=True)}


def name_after(table: dict[tuple[Enum, Enum], Enum], state: Enum, event: Enum) -> str:
    try:
        return after(table, state, event).name
    except ImpossibleStep:
        return "-"


@pytest.mark.parametrize(("held", "heard"), list(product(Held, Heard)))
def test_a_replica_takes_the_steps_of_its_table_and_refuses_all_others(held: Held, heard: Heard) -> None:
    assert name_after(dict(HELD_NEXT), held, heard) == steps(HELD)[held.name, heard.name]


@pytest.mark.parametrize(("knows", "sent"), list(product(Knows, Sent)))
def test_a_neighbour_takes_the_steps_of_its_table_and_refuses_all_others(knows: Knows, sent: Sent) -> None:
    assert name_after(dict(KNOWS_NEXT), knows, sent) == steps(KNOWS)[knows.name, sent.name]


def test_a_whole_surrogate_mends_whatever_happened_before() -> None:
    assert {after(HELD_NEXT, held, Heard.WHOLE) for held in Held} == {Held.SOUND}
    assert {after(KNOWS_NEXT, knows, Sent.WHOLE) for knows in Knows} == {Knows.ALL}
