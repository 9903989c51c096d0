"""What the kernel counted on a node's connections to one receiver."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class SocketCounts:
    connections: int = 0
    bytes_sent: int = 0
    """Payload, with what was sent again."""
    bytes_received: int = 0
    segments_out: int = 0
    segments_in: int = 0
    retransmitted: int = 0
    """Segments."""
    retransmitted_bytes: int = 0

    def __add__(self, other: "SocketCounts") -> "SocketCounts":
        return SocketCounts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))
