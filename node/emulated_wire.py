"""The wire that takes its time: a message goes to gRPC when it should arrive, as far as this process emulates the link.

gRPC gets it earlier, by what the way through this machine takes (`ReceiptTimes.way_s`). Not so if the kernel has a hand
in the link, because receipts would then tell of that.
"""

from collections import deque
from math import inf

from node.conditions import NodeConditions
from node.link_queue import Outgoing
from pame.links import LinkState, send

AHEAD_S = 0.005
"""At most so long before its moment a message leaves the queue, and so much of the way is taken off its delay."""


class EmulatedWire:
    """The messages of one link that have left its queue and are not yet handed to gRPC."""

    def __init__(self, receiver: int, conditions: NodeConditions) -> None:
        self._receiver = receiver
        self._conditions = conditions
        self._state = LinkState()
        self.entries: deque[Outgoing] = deque()

    def put(self, entry: Outgoing, now: float, held_s: float) -> None:
        """A message leaves the queue; `held_s`: for how long nothing gets through."""
        leaves = now + held_s if held_s else entry.at
        u = self._conditions.jitter(self._receiver, entry.message.iteration)
        self._state = send(self._conditions.link(self._receiver), self._state, leaves, 8 * entry.size, u)
        entry.left_at, entry.arrives_at = now, self._state.last_arrival
        self.entries.append(entry)

    def handover_at(self, way_s: float) -> float:
        """When the first goes to gRPC, whose way to the receiver takes so long; inf: there is none."""
        return self.entries[0].arrives_at - self.taken_off_s(way_s) if self.entries else inf

    def taken_off_s(self, way_s: float) -> float:
        """How much earlier than it should arrive a message goes to gRPC."""
        return min(way_s, AHEAD_S) if self._conditions.is_emulated(self._receiver) else 0.0

    def clear(self) -> list[Outgoing]:
        """Nothing is on the wire any more; what was."""
        entries = list(self.entries)
        self.entries.clear()
        self._state = LinkState()
        return entries
