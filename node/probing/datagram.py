"""What a datagram of ours says; anything else that comes to the port is nobody's."""

import struct
from hashlib import sha256
from typing import NamedTuple

_LAYOUT = struct.Struct("<4sQIII?q")
_MAGIC = b"PaME"
LEAST_BYTES = _LAYOUT.size


class Datagram(NamedTuple):
    """Its fields, in the order of their bytes."""

    key: int
    """See `key_of`."""
    number: int
    sender: int
    """Who began it: of an echo, too."""
    receiver: int
    echo: bool
    """Whether it is to come back, on its way there; whether it came back, on its way home."""
    sent_ns: int


def key_of(secret: bytes) -> int:
    """What all datagrams of a run carry, and nobody else can: from the secret of the run, and no way back to it."""
    return int.from_bytes(sha256(b"datagram" + secret).digest()[:8], "little")


def pack(datagram: Datagram, size: int = LEAST_BYTES) -> bytes:
    """Its bytes, filled up to a size."""
    return _LAYOUT.pack(_MAGIC, *datagram).ljust(size, b"\0")


def read(data: bytes) -> Datagram | None:
    """What these bytes say, if they are ours."""
    if len(data) < LEAST_BYTES:
        return None
    magic, *said = _LAYOUT.unpack_from(data)
    return Datagram(*said) if magic == _MAGIC else None
