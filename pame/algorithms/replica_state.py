"""One neighbour of a node with replicas: what is known of it here, and what it knows of this node.

Both are states, each with a table of its steps: a row is a state, a column an event, and `-` a pair that cannot be; if
it is met, that is a mistake of ours (`ImpossibleStep`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeVar

from pame.algorithms.interface import Received
from pame.exchange import Vector

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)
Surrogates = Mapping[str, Vector]


class ImpossibleStep(RuntimeError):
    """A state met an event that its table does not have."""


def after(table: Mapping[tuple[State, Event], State], state: State, event: Event) -> State:
    """The next state; ImpossibleStep if the table has no such pair."""
    if (state, event) not in table:
        raise ImpossibleStep(f"{type(state).__name__} {state.name} met {event.name}")
    return table[state, event]


def _table(states: type[State], events: type[Event], text: str) -> Mapping[tuple[State, Event], State]:
    columns, *rows = (line.split() for line in text.strip().splitlines())
    return {
        (states[state], events[event]): states[to]
        for state, *following in rows
        for event, to in zip(columns, following, strict=True)
        if to != "-"
    }


class ReplicaState(Enum):
    """This end's replica of the neighbour's surrogates."""

    SOUND = auto()
    STALE = auto()
    """Something is missing: a whole surrogate must come."""
    UNKNOWN = auto()
    """Of one of both that came back: nothing was heard yet that could be added to."""


class ReplicaEvent(Enum):
    UPDATE = auto()
    WHOLE = auto()
    GAP = auto()
    """A message did not come, and nothing makes up for it."""
    RETURN = auto()
    """The neighbour came back as a new process."""


REPLICA_STEPS = _table(
    ReplicaState,
    ReplicaEvent,
    """
              UPDATE    WHOLE   GAP     RETURN
    SOUND     SOUND     SOUND   STALE   UNKNOWN
    STALE     STALE     SOUND   STALE   UNKNOWN
    UNKNOWN   UNKNOWN   SOUND   -       UNKNOWN
    """,
)


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


TOLD_STEPS = _table(
    ToldState,
    ToldEvent,
    """
                 UPDATE   WHOLE   LOST_UPDATE   LOST_OTHER   LOST_NOTHING   MISSED    RETURN
    ALL          ALL      ALL     LACKS_LAST    LACKS_MORE   ALL            NOTHING   NOTHING
    LACKS_LAST   ALL      ALL     LACKS_MORE    LACKS_MORE   LACKS_MORE     NOTHING   NOTHING
    LACKS_MORE   -        ALL     LACKS_MORE    LACKS_MORE   LACKS_MORE     NOTHING   NOTHING
    NOTHING      -        ALL     NOTHING       NOTHING      NOTHING        NOTHING   NOTHING
    """,
)


@dataclass
class NeighbourReplica:
    """A neighbour's surrogates as they are known here, and what it knows of this node's."""

    vectors: Surrogates
    met: Surrogates
    """The own surrogates at the last round of both."""
    held: ReplicaState
    knows: ToldState
    heard: int = -1
    """The iteration of its last message, -1 before the first."""
    waiting: list[Received] = field(default_factory=list)
    """What it said since the last round of both."""
    owed: dict[int, Vector] = field(default_factory=dict)
    """The own surrogate that flows, at the last rounds that passed without its message, for no reason known here."""

    @property
    def is_met(self) -> bool:
        return self.held is ReplicaState.SOUND and self.knows is not ToldState.NOTHING

    @property
    def needs_whole(self) -> bool:
        return self.knows in (ToldState.LACKS_MORE, ToldState.NOTHING)

    def hear(self, heard: ReplicaEvent) -> None:
        self.held = after(REPLICA_STEPS, self.held, heard)

    def tell(self, sent: ToldEvent) -> None:
        self.knows = after(TOLD_STEPS, self.knows, sent)
