"""A partial message as bytes, and back (the layout is in the package's docstring).

The decoder checks every length before it allocates, and never allocates by a number from the wire that the receiver's
own n or the length of the data does not bound: at most 64 (n + len(data)) bytes and 64 KiB.
"""

from dataclasses import dataclass

import numpy as np

from pame.codec import stars as star_section
from pame.codec import supports
from pame.codec.bits import Indices, read_varint, varint_size, write_varint
from pame.codec.header import VERSION, split_flags
from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.codec.stars import StarCoding, Stars
from pame.codec.supports import Draw, SupportCoding
from pame.codec.values import from_wire, to_wire
from pame.compressors import Sparse
from pame.exchange import PartialMessage, ValueType, Vector


def encode(
    message: PartialMessage,
    *,
    coding: SupportCoding | None = None,
    values: ValueType = ValueType.FLOAT64,
    draw: Draw | None = None,
) -> bytes:
    """The bytes of a message; `coding` None takes the smallest, `seed` among them if the draw is given.

    The support must be ascending, and that of the draw: the receiver's checksum finds a difference, the sender
    does not look for one. A value that is NaN, infinite or too large for float32 raises `NotFinite`.
    """
    _check(message)
    wire = to_wire(message.values, values, message.support)
    support = supports.plan(message.support, message.n, coding, draw)
    stars = star_section.find(message.values)
    if stars.count:
        wire = wire[wire.view(f"<i{wire.itemsize}") != 0]
    flags = VERSION | support.coding << 3 | values << 5 | stars.coding << 6
    head = bytes([flags]) + write_varint(stars.s)
    return b"".join((head, supports.write(support, message.support, message.n), star_section.write(stars), wire.data))


def measure(
    message: PartialMessage,
    *,
    coding: SupportCoding | None = None,
    values: ValueType = ValueType.FLOAT64,
    draw: Draw | None = None,
) -> Sizes:
    """What `encode` would take, without building the bytes or looking at the values beyond their stars."""
    support = supports.plan(message.support, message.n, coding, draw)
    stars = star_section.find(message.values)
    return Sizes(values.dtype.itemsize * (stars.s - stars.count), support.size, stars.size, 1 + varint_size(stars.s))


def decode(data: bytes | memoryview, n: int, draw: Draw | None = None) -> PartialMessage:
    """The message in the bytes, or `Refused`; `draw` is what the receiver knows of the sender's support."""
    parsed = _parse(data, n)
    values = _values(parsed)
    support = parsed.support
    if support is None:
        support = supports.recompute(parsed.coding, parsed.support_section, n, parsed.stars.s, draw)
    return PartialMessage(n, support, values)


def decode_sparse(data: bytes | memoryview, n: int) -> Sparse:
    """The same of a support that nobody else can draw; refused, too, if another coding of it is smaller."""
    message = decode(data, n)
    coding = SupportCoding(data[0] >> 3 & 3)
    if supports.plan(message.support, n, None, None).coding is not coding:
        raise Refused(Refusal.NOT_CANONICAL, f"The support is coded as {coding.name.lower()}: another is smaller.")
    return Sparse(n, message.support, message.values)


def sizes(data: bytes | memoryview, n: int) -> Sizes:
    """Where the bytes of an encoded message go; `Refused` if its sections do not add up."""
    parsed = _parse(data, n)
    section, stars, values = len(parsed.support_section), parsed.stars.size, len(parsed.value_section)
    return Sizes(values, section, stars, len(data) - section - stars - values)


@dataclass(frozen=True, slots=True)
class _Parsed:
    coding: SupportCoding
    value_type: ValueType
    support: Indices | None
    support_section: memoryview
    stars: Stars
    value_section: memoryview


def _parse(data: bytes | memoryview, n: int) -> _Parsed:
    flags, view = split_flags(data, bits=8)
    coding, value_type = SupportCoding(flags >> 3 & 3), ValueType(flags >> 5 & 1)
    s, used = read_varint(view)
    if not 1 <= s <= n:
        raise Refused(Refusal.BAD_SIZE, f"A support of {s} does not fit a model of {n}.")
    rest = view[used:]
    support, used = supports.read(coding, rest, n, s)
    section, rest = rest[:used], rest[used:]
    stars = star_section.read(StarCoding(flags >> 6), rest, s)
    rest = rest[stars.size :]
    expected = value_type.dtype.itemsize * (s - stars.count)
    if len(rest) != expected:
        raise Refused(Refusal.BAD_LENGTH, f"The values take {expected} bytes, but {len(rest)} are left.")
    return _Parsed(coding, value_type, support, section, stars, rest)


def _values(parsed: _Parsed) -> Vector:
    stars = parsed.stars
    sent = from_wire(parsed.value_section, parsed.value_type)
    if np.count_nonzero(sent.view(np.int64)) != sent.size:
        raise Refused(Refusal.ZERO_VALUE, "A value is zero, but is not coded as a star.")
    if not stars.count:
        return sent
    values = np.zeros(stars.s)
    if stars.positions is not None:
        kept = np.ones(stars.s, dtype=np.bool_)
        kept[stars.positions] = False
        values[kept] = sent
    return values


def _check(message: PartialMessage) -> None:
    s = message.support.size
    if not 1 <= s <= message.n < 2**32 or message.values.size != s:
        raise ValueError(f"not a message: {s} coordinates and {message.values.size} values of n = {message.n}")
