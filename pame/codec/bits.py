"""Varints (7 bits per byte, low bits first, as in protobuf) and bitmaps (coordinate l is bit l % 8 of byte l // 8)."""

import numpy as np
from numpy.typing import NDArray

from pame.codec.refusal import Refusal, Refused

Indices = NDArray[np.int64]

_VARINT_BYTES = 5  # enough for every number below 2^32


def take(view: memoryview, size: int, what: str) -> memoryview:
    """The first `size` bytes of a view; refused if it is shorter."""
    if size > len(view):
        raise Refused(Refusal.BAD_LENGTH, f"The {what} needs {size} bytes, but only {len(view)} are left.")
    return view[:size]


def varint_size(number: int) -> int:
    return max(1, (number.bit_length() + 6) // 7)


def write_varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(view: memoryview) -> tuple[int, int]:
    """The varint at the start of a view, and how many bytes it takes."""
    number = 0
    for position, byte in enumerate(view[:_VARINT_BYTES]):
        number |= (byte & 0x7F) << 7 * position
        if byte < 0x80:
            if byte == 0 and position:
                raise Refused(Refusal.BAD_VARINT, "A varint is longer than its number needs.")
            return number, position + 1
    if len(view) < _VARINT_BYTES:
        raise Refused(Refusal.BAD_LENGTH, "The bytes end inside a varint.")
    raise Refused(Refusal.BAD_VARINT, f"A varint is longer than {_VARINT_BYTES} bytes.")


def bitmap_size(universe: int) -> int:
    return (universe + 7) // 8


def write_bitmap(indices: Indices, universe: int) -> bytes:
    mask = np.zeros(universe, dtype=np.bool_)
    mask[indices] = True
    return np.packbits(mask, bitorder="little").tobytes()


def read_bitmap(view: memoryview, universe: int, what: str) -> tuple[Indices, int]:
    """The subset whose bitmap is at the start of a view, and how many bytes that takes."""
    packed = take(view, bitmap_size(universe), what)
    check_padding(packed, universe, what)
    count = int(np.bitwise_count(np.frombuffer(packed, dtype=np.uint8)).sum())
    padded = np.frombuffer(b"".join((packed, b"\xff" * _tail(universe, count))), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(padded, bitorder="little").view(np.bool_))[:count], len(packed)


def check_padding(packed: memoryview, used_bits: int, what: str) -> None:
    """Refuse if a bit of the last byte after the first `used_bits` is set."""
    if used_bits % 8 and packed[-1] >> used_bits % 8:
        raise Refused(Refusal.BAD_PADDING, f"The {what} has a bit set after its end.")


def _tail(universe: int, count: int) -> int:
    """How many bytes of ones to append to a bitmap, so that NumPy finds its ones quickly.

    Up to a share of 10 % `flatnonzero` searches with memchr, which from about 3 % on takes longer than the
    branch-free loop it uses above: at 10 % three times as long.
    """
    return (universe - 10 * count) // 72 + 2 if 10 * count <= universe < 30 * count else 0
