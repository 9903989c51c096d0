"""What became of the properties of links, as nodes report it, and how they are measured."""

from dataclasses import dataclass

PINGS, PINGS_OF_JITTER = 6, 12
"""A node sends so many over a link at the least; the orchestrator plans the time of a check by it."""


@dataclass(frozen=True, slots=True)
class Realised:
    """One property of a link, at one of its ends."""

    sender: int
    receiver: int
    property: str
    """rate, delay, jitter, loss or cut."""
    asked: float
    """Bits per second, seconds, or a share; a cut is the share 1."""
    mechanism: str
    """As in `Mechanisms`."""
    held: float | None
    """What the kernel at this end says; None where it has no say."""
