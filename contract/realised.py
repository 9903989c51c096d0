"""What became of the properties of links, as nodes report it."""

from dataclasses import dataclass
from enum import StrEnum


class LinkProperty(StrEnum):
    """What a link can be asked for; the words are those of reports and files."""

    DELAY = "delay"
    JITTER = "jitter"
    LOSS = "loss"
    RATE = "rate"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Realised:
    """What became of one property of a link, at one of its ends."""

    sender: int
    receiver: int
    property: LinkProperty
    asked: float
    """Bits per second, seconds, or a share; a cut is the share 1."""
    mechanism: str
    """As in `Mechanisms`."""
    held: float | None
    """What the kernel at this end says; None where it has no say."""
