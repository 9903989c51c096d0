"""How the bytes of a vector begin: a flags byte (bits 0-2 version 1), and of a compressed one float64 numbers."""

import struct
from math import isfinite

from pame.codec.bits import take
from pame.codec.refusal import Refusal, Refused

VERSION = 1
NUMBER_BYTES = 8

FLAGS = bytes([VERSION])


def split_flags(data: bytes | memoryview, bits: int = 3) -> tuple[int, memoryview]:
    """The flags, of which so many bits mean something, and what follows them."""
    view = memoryview(data)
    if not view:
        raise Refused(Refusal.BAD_LENGTH, "There are no bytes.")
    flags = view[0]
    if flags & 7 != VERSION:
        raise Refused(Refusal.UNKNOWN_VERSION, f"Format version {flags & 7} is not known; this is version {VERSION}.")
    if flags >> bits:
        raise Refused(Refusal.BAD_PADDING, "The flags have a bit set that means nothing.")
    return flags, view[1:]


def write_number(number: float, least: float) -> bytes:
    """A finite number from `least` on; -0.0 is none."""
    if not _fits(packed := struct.pack("<d", number), least):
        raise ValueError(f"{number} cannot be sent where a finite number from {least} on belongs")
    return packed


def read_number(view: memoryview, least: float, what: str) -> float:
    packed = bytes(take(view, NUMBER_BYTES, what))
    if not _fits(packed, least):
        raise Refused(Refusal.NOT_FINITE, f"The {what} is not a finite number from {least} on.")
    return float(struct.unpack("<d", packed)[0])


def _fits(packed: bytes, least: float) -> bool:
    number = struct.unpack("<d", packed)[0]
    return isfinite(number) and number >= least and not packed[-1] >> 7
