"""The tables of an edge between nodes with replicas, walked pair by pair: a step that they have, or a refusal."""

from enum import Enum
from itertools import product

import pytest

from pame.algorithms.replica_state import (
    REPLICA_STEPS,
    TOLD_STEPS,
    ImpossibleStep,
    ReplicaEvent,
    ReplicaState,
    ToldEvent,
    ToldState,
    after,
)

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


@pytest.mark.parametrize(("held", "heard"), list(product(ReplicaState, ReplicaEvent)))
def test_a_replica_takes_the_steps_of_its_table_and_refuses_all_others(held: ReplicaState, heard: ReplicaEvent) -> None:
    assert name_after(dict(REPLICA_STEPS), held, heard) == steps(HELD)[held.name, heard.name]


@pytest.mark.parametrize(("knows", "sent"), list(product(ToldState, ToldEvent)))
def test_a_neighbour_takes_the_steps_of_its_table_and_refuses_all_others(knows: ToldState, sent: ToldEvent) -> None:
    assert name_after(dict(TOLD_STEPS), knows, sent) == steps(KNOWS)[knows.name, sent.name]


def test_a_whole_surrogate_mends_whatever_happened_before() -> None:
    assert {after(REPLICA_STEPS, held, ReplicaEvent.WHOLE) for held in ReplicaState} == {ReplicaState.SOUND}
    assert {after(TOLD_STEPS, knows, ToldEvent.WHOLE) for knows in ToldState} == {ToldState.ALL}
