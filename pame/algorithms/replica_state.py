"""The two states of an edge between nodes with replicas: what this end holds of the other, and what it has told it.

A pair of state and event that a table lacks cannot happen; if it does, that is a mistake of ours (`ImpossibleStep`).
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import TypeVar

S = TypeVar("S", bound=Enum)
E = TypeVar("E", bound=Enum)


class ImpossibleStep(RuntimeError):
    """A state met an event that its table does not have."""


class ReplicaState(Enum):
    """This end's replica of the neighbour's surrogates."""

    SOUND = auto()
    STALE = auto()
    """Something is missing: a whole surrogate must come."""
    UNKNOWN = auto()
    """Of one of both that came back: nothing was heard yet that could be added to."""


class ReplicaEvent(Enum):
    """What befalls a replica."""

    UPDATE = auto()
    WHOLE = auto()
    GAP = auto()
    """A message did not come, and nothing makes up for it."""
    RETURN = auto()
    """The neighbour came back as a new process."""


REPLICA_STEPS: Mapping[tuple[ReplicaState, ReplicaEvent], ReplicaState] = {
    (ReplicaState.SOUND, ReplicaEvent.UPDATE): ReplicaState.SOUND,
    (ReplicaState.SOUND, ReplicaEvent.WHOLE): ReplicaState.SOUND,
    (ReplicaState.SOUND, ReplicaEvent.GAP): ReplicaState.STALE,
    (ReplicaState.SOUND, ReplicaEvent.RETURN): ReplicaState.UNKNOWN,
    (ReplicaState.STALE, ReplicaEvent.UPDATE): ReplicaState.STALE,
    (ReplicaState.STALE, ReplicaEvent.WHOLE): ReplicaState.SOUND,
    (ReplicaState.STALE, ReplicaEvent.GAP): ReplicaState.STALE,
    (ReplicaState.STALE, ReplicaEvent.RETURN): ReplicaState.UNKNOWN,
    (ReplicaState.UNKNOWN, ReplicaEvent.UPDATE): ReplicaState.UNKNOWN,
    (ReplicaState.UNKNOWN, ReplicaEvent.WHOLE): ReplicaState.SOUND,
    (ReplicaState.UNKNOWN, ReplicaEvent.RETURN): ReplicaState.UNKNOWN,
}
"""No gap is seen before the first message."""


class ToldState(Enum):
    """What the neighbour knows of this end's surrogates, as far as this end can tell."""

    ALL = auto()
    LACKS_LAST = auto()
    """But for the update of the last round: sending that again is enough."""
    LACKS_MORE = auto()
    """Only a whole surrogate is enough."""
    NOTHING = auto()
    """The same, and the edge rests until then."""


class ToldEvent(Enum):
    """What became of this end's message of a round."""

    UPDATE = auto()
    """It arrives, with the update before if anybody lacks it; an explicit nothing is one, too."""
    WHOLE = auto()
    """It arrives."""
    LOST_UPDATE = auto()
    """On purpose, as both ends know; so are the next two."""
    LOST_OTHER = auto()
    """A message that cannot be sent again as it was."""
    LOST_NOTHING = auto()
    """It said nothing."""
    MISSED = auto()
    """Lost, and the other end cannot know."""
    RETURN = auto()
    """The neighbour came back as a new process."""


TOLD_STEPS: Mapping[tuple[ToldState, ToldEvent], ToldState] = {
    (ToldState.ALL, ToldEvent.UPDATE): ToldState.ALL,
    (ToldState.ALL, ToldEvent.LOST_UPDATE): ToldState.LACKS_LAST,
    (ToldState.ALL, ToldEvent.LOST_OTHER): ToldState.LACKS_MORE,
    (ToldState.ALL, ToldEvent.LOST_NOTHING): ToldState.ALL,
    (ToldState.LACKS_LAST, ToldEvent.UPDATE): ToldState.ALL,
    (ToldState.LACKS_LAST, ToldEvent.LOST_UPDATE): ToldState.LACKS_MORE,
    (ToldState.LACKS_LAST, ToldEvent.LOST_OTHER): ToldState.LACKS_MORE,
    (ToldState.LACKS_LAST, ToldEvent.LOST_NOTHING): ToldState.LACKS_MORE,
    (ToldState.LACKS_MORE, ToldEvent.LOST_UPDATE): ToldState.LACKS_MORE,
    (ToldState.LACKS_MORE, ToldEvent.LOST_OTHER): ToldState.LACKS_MORE,
    (ToldState.LACKS_MORE, ToldEvent.LOST_NOTHING): ToldState.LACKS_MORE,
    (ToldState.NOTHING, ToldEvent.LOST_UPDATE): ToldState.NOTHING,
    (ToldState.NOTHING, ToldEvent.LOST_OTHER): ToldState.NOTHING,
    (ToldState.NOTHING, ToldEvent.LOST_NOTHING): ToldState.NOTHING,
    **{(knows, ToldEvent.WHOLE): ToldState.ALL for knows in ToldState},
    **{(knows, ToldEvent.MISSED): ToldState.NOTHING for knows in ToldState},
    **{(knows, ToldEvent.RETURN): ToldState.NOTHING for knows in ToldState},
}
"""Whoever needs a whole surrogate gets no mere update."""


def after(table: Mapping[tuple[S, E], S], state: S, event: E) -> S:
    """The next state; ImpossibleStep if the table has no such pair."""
    if (state, event) not in table:
        raise ImpossibleStep(f"{type(state).__name__} {state.name} met {event.name}")
    return table[state, event]
