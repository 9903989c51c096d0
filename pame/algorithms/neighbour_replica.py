"""One neighbour of a node with replicas: what is known of it here, and what it knows of this node."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pame.algorithms.interface import Received
from pame.algorithms.replica_state import (
    REPLICA_STEPS,
    TOLD_STEPS,
    ReplicaEvent,
    ReplicaState,
    ToldEvent,
    ToldState,
    after,
)
from pame.exchange import Vector

Surrogates = Mapping[str, Vector]


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
        """Whether each has heard of the other."""
        return self.held is ReplicaState.SOUND and self.knows is not ToldState.NOTHING

    @property
    def needs_whole(self) -> bool:
        return self.knows in (ToldState.LACKS_MORE, ToldState.NOTHING)

    def hear(self, heard: ReplicaEvent) -> None:
        self.held = after(REPLICA_STEPS, self.held, heard)

    def tell(self, sent: ToldEvent) -> None:
        self.knows = after(TOLD_STEPS, self.knows, sent)
