"""What a datagram of ours says; anything else that comes to the port is nobody's."""

import struct
from dataclasses import dataclass
from hashlib import sha256

_LAYOUT = struct.Struct("<4sQIII?q")
_MAGIC = b"PaME"
LEAST_BYTES = _LAYOUT.size


@dataclass(frozen=True, slots=True)
class Datagram:
    key: int
    """See `key_of`."""
    number: int
    sender: int
    """Who began it: of an echo, too."""
    receiver: int
    sent_ns: int
    echo: bool = False
    """Whether it is to come back, on its way there; whether it came back, on its way home."""


def key_of(secret: bytes) -> int:
    """What all datagrams of a run carry, and nobody else can: from the secret of the run, and no way back to it."""
    return int.from_bytes(sha256(b"datagram" + secret).digest()[:8], "little")


def pack(datagram: Datagram, size: int = LEAST_BYTES) -> bytes:
    """Its bytes, filled up to a size."""
    data = _LAYOUT.pack(
        _MAGIC,
        datagram.key,
        datagram.number,
        datagram.sender,
        datagram.receiver,
        datagram.echo,
        datagram.sent_ns,
    )
    return data.ljust(size, b"\0")


def read(data: bytes) -> Datagram | None:
    """What these bytes say, if they are ours."""
    if len(data) < LEAST_BYTES:
        return None
    magic, key, number, sender, receiver, echo, sent_ns = _LAYOUT.unpack_from(data)
    return Datagram(key, number, sender, receiver, sent_ns, echo) if magic == _MAGIC else None
