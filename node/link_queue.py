"""What waits for an outgoing link: bounded in messages and bytes; one too many drops the oldest."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from node.wire_message import WireMessage

QUEUE_MESSAGES = 64
QUEUE_BYTES = 64 * 2**20


@dataclass(slots=True)
class Outgoing:
    """A message that waits or is under way; the times are those of its last departure from the queue."""

    message: WireMessage
    at: float
    """When it is sent: it does not leave the queue before."""
    is_sent: bool = False
    """Handed to gRPC, on this stream or an earlier one."""
    is_counted: bool = False
    """Handed to gRPC on this stream, and in the account."""
    left_at: float = 0.0
    """The queue."""
    arrives_at: float = 0.0
    """When it should."""
    handed_at: float = 0.0
    """To gRPC."""
    overdue_s: float = 0.0
    """How much too late that was, through no fault of whoever pushed it."""
    acknowledged_before: int = 0
    """Bytes acknowledged on this stream when it left."""

    @property
    def size(self) -> int:
        return len(self.message.data)


class LinkQueue:
    """The messages of one link that nobody has begun to send, in the order in which they go."""

    def __init__(self) -> None:
        self._waiting: deque[Outgoing] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> Outgoing:
        return self._waiting[0]

    def push(self, entry: Outgoing) -> list[Outgoing]:
        """Those that had to give way; the newest stays, however large it is."""
        self._waiting.append(entry)
        self._bytes += entry.size
        dropped = []
        while len(self._waiting) > QUEUE_MESSAGES or (self._bytes > QUEUE_BYTES and len(self._waiting) > 1):
            dropped.append(self.pop())
        return dropped

    def pop(self) -> Outgoing:
        entry = self._waiting.popleft()
        self._bytes -= entry.size
        return entry

    def put_back(self, entries: Sequence[Outgoing]) -> None:
        """In front, in this order; none is dropped for them."""
        self._waiting.extendleft(reversed(entries))
        self._bytes += sum(entry.size for entry in entries)
