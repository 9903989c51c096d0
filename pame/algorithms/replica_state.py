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


class Held(Enum):
    """This end's replica of the neighbour's surrogates."""

    SOUND = auto()
    STALE = auto()
    """Something is missing: a whole surrogate must come."""
    UNKNOWN = auto()
    """Of one of both that came back: nothing was heard yet that could be added to."""


class Heard(Enum):
    """What befalls a replica."""

    UPDATE = auto()
    WHOLE = auto()
    GAP = auto()
    """A message did not come, and nothing makes up for it."""
    RETURN = auto()
    """The neighbour came back as a new process."""


HELD_NEXT: Mapping[tuple[Held, Heard], Held] = {
    (Held.SOUND, Heard.UPDATE): Held.SOUND,
    (Held.SOUND, Heard.WHOLE): Held.SOUND,
    (Held.SOUND, Heard.GAP): Held.STALE,
    (Held.SOUND, Heard.RETURN): Held.UNKNOWN,
    (Held.STALE, Heard.UPDATE): Held.STALE,
    (Held.STALE, Heard.WHOLE): Held.SOUND,
    (Held.STALE, Heard.GAP): Held.STALE,
    (Held.STALE, Heard.RETURN): Held.UNKNOWN,
    (Held.UNKNOWN, Heard.UPDATE): Held.UNKNOWN,
    (Held.UNKNOWN, Heard.WHOLE): Held.SOUND,
    (Held.UNKNOWN, Heard.RETURN): Held.UNKNOWN,
}
"""No gap is seen before the first message."""


class Knows(Enum):
    """What the neighbour knows of this end's surrogates, as far as this end can tell."""

    ALL = auto()
    LACKS_LAST = auto()
    """But for the update of the last round: sending that again is enough."""
    LACKS_MORE = auto()
    """Only a whole surrogate is enough."""
    NOTHING = auto()
    """The same, and the edge rests until then."""


class Sent(Enum):
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


KNOWS_NEXT: Mapping[tuple[Knows, Sent], Knows] = {
    (Knows.ALL, Sent.UPDATE): Knows.ALL,
    (Knows.ALL, Sent.LOST_UPDATE): Knows.LACKS_LAST,
    (Knows.ALL, Sent.LOST_OTHER): Knows.LACKS_MORE,
    (Knows.ALL, Sent.LOST_NOTHING): Knows.ALL,
    (Knows.LACKS_LAST, Sent.UPDATE): Knows.ALL,
    (Knows.LACKS_LAST, Sent.LOST_UPDATE): Knows.LACKS_MORE,
    (Knows.LACKS_LAST, Sent.LOST_OTHER): Knows.LACKS_MORE,
    (Knows.LACKS_LAST, Sent.LOST_NOTHING): Knows.LACKS_MORE,
    (Knows.LACKS_MORE, Sent.LOST_UPDATE): Knows.LACKS_MORE,
    (Knows.LACKS_MORE, Sent.LOST_OTHER): Knows.LACKS_MORE,
    (Knows.LACKS_MORE, Sent.LOST_NOTHING): Knows.LACKS_MORE,
    (Knows.NOTHING, Sent.LOST_UPDATE): Knows.NOTHING,
    (Knows.NOTHING, Sent.LOST_OTHER): Knows.NOTHING,
    (Knows.NOTHING, Sent.LOST_NOTHING): Knows.NOTHING,
    **{(knows, Sent.WHOLE): Knows.ALL for knows in Knows},
    **{(knows, Sent.MISSED): Knows.NOTHING for knows in Knows},
    **{(knows, Sent.RETURN): Knows.NOTHING for knows in Knows},
}
"""Whoever needs a whole surrogate gets no mere update."""


def after(table: Mapping[tuple[S, E], S], state: S, event: E) -> S:
    """The next state; ImpossibleStep if the table has no such pair."""
    if (state, event) not in table:
        raise ImpossibleStep(f"{type(state).__name__} {state.name} met {event.name}")
    return table[state, event]
