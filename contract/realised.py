"""What became of the properties of links, as nodes report it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Realised:
    """What became of one property of a link, at one of its ends."""

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
