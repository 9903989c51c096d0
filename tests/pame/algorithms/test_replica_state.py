"""The tables of an edge between nodes with replicas, walked pair by pair against the rules they were drawn from."""

from collections.abc import Mapping
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

LOST = (ToldEvent.LOST_UPDATE, ToldEvent.LOST_OTHER, ToldEvent.LOST_NOTHING)


def replica_rule(state: ReplicaState, event: ReplicaEvent) -> ReplicaState | None:
    """Whole surrogates mend, returns forget; a gap is seen only after something was heard; updates change no state."""
    match event:
        case ReplicaEvent.WHOLE:
            return ReplicaState.SOUND
        case ReplicaEvent.RETURN:
            return ReplicaState.UNKNOWN
        case ReplicaEvent.GAP:
            return None if state is ReplicaState.UNKNOWN else ReplicaState.STALE
        case ReplicaEvent.UPDATE:
            return state


def told_rule(state: ToldState, event: ToldEvent) -> ToldState | None:
    """One lost update can be sent again at the next round and never later; whoever needs all gets no mere update."""
    if event is ToldEvent.WHOLE:
        return ToldState.ALL
    if event in (ToldEvent.MISSED, ToldEvent.RETURN):
        return ToldState.NOTHING
    if event is ToldEvent.UPDATE:
        return ToldState.ALL if state in (ToldState.ALL, ToldState.LACKS_LAST) else None
    if state is ToldState.ALL:
        return {LOST[0]: ToldState.LACKS_LAST, LOST[1]: ToldState.LACKS_MORE, LOST[2]: ToldState.ALL}[event]
    return ToldState.NOTHING if state is ToldState.NOTHING else ToldState.LACKS_MORE


CASES = [
    *((REPLICA_STEPS, *pair, replica_rule(*pair)) for pair in product(ReplicaState, ReplicaEvent)),
    *((TOLD_STEPS, *pair, told_rule(*pair)) for pair in product(ToldState, ToldEvent)),
]


@pytest.mark.parametrize(("table", "state", "event", "expected"), CASES)
def test_a_state_takes_the_steps_of_its_table_and_refuses_all_others(
    table: Mapping[tuple[Enum, Enum], Enum], state: Enum, event: Enum, expected: Enum | None
) -> None:
    if expected is not None:
        assert after(table, state, event) is expected
    else:
        with pytest.raises(ImpossibleStep):
            after(table, state, event)
