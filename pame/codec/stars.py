"""The star section: which of the s selected values are true zeros (★), and so are not sent.

    none     nothing
    all      nothing
    gaps     varint count, then Golomb-Rice coded gaps over range(s) (see `rice`)
    bitmap   s bits

A star is +0.0 exactly, the number whose bits are all zero; -0.0 is a value. The coding is not the sender's choice:
`none` and `all` where they apply, else the smaller of `gaps` and `bitmap` (`gaps` if equal).
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from pame.codec import rice
from pame.codec.bits import Indices, bitmap_size, read_bitmap, read_varint, varint_size, write_bitmap, write_varint
from pame.codec.refusal import Refusal, Refused
from pame.exchange import Vector


class StarCoding(IntEnum):
    """How the stars travel. The numbers are part of the wire format."""

    NONE = 0
    ALL = 1
    GAPS = 2
    BITMAP = 3


@dataclass(frozen=True, slots=True)
class Stars:
    """Stars among s values and the bytes of their section; positions if some, but not all, are stars."""

    coding: StarCoding
    s: int
    count: int
    size: int = 0
    positions: Indices | None = None
    gaps: rice.Rice | None = None


def find(values: Vector) -> Stars:
    patterns = values.view(np.int64)
    s, others = values.size, int(np.count_nonzero(patterns))
    if others == s:
        return Stars(StarCoding.NONE, s, 0)
    if others == 0:
        return Stars(StarCoding.ALL, s, s)
    return _plan(np.flatnonzero(patterns == 0), s)


def write(stars: Stars) -> bytes:
    if stars.gaps is not None:
        return write_varint(stars.count) + rice.write(stars.gaps)
    return write_bitmap(stars.positions, stars.s) if stars.positions is not None else b""


def read(coding: StarCoding, view: memoryview, s: int) -> Stars:
    if coding is StarCoding.NONE:
        return Stars(coding, s, 0)
    if coding is StarCoding.ALL:
        return Stars(coding, s, s)
    if coding is StarCoding.GAPS:
        count, used = read_varint(view)
        _check_count(count, s)
        positions, rest = rice.read(view[used:], count, s, "star section", Refusal.BAD_STARS)
        if used + rest > bitmap_size(s):
            raise Refused(Refusal.NOT_CANONICAL, "The stars are coded as gaps, but a bitmap is smaller.")
        return Stars(coding, s, count, used + rest, positions)
    positions, _ = read_bitmap(view, s, "star section")
    _check_count(positions.size, s)
    stars = _plan(positions, s)
    if stars.coding is not StarCoding.BITMAP:
        raise Refused(Refusal.NOT_CANONICAL, "The stars are coded as a bitmap, but gaps are no larger.")
    return stars


def _plan(positions: Indices, s: int) -> Stars:
    count, bitmap = positions.size, bitmap_size(s)
    if varint_size(count) + rice.least_size(count) <= bitmap:
        planned = rice.plan(positions)
        size = varint_size(count) + planned.size
        if size <= bitmap:
            return Stars(StarCoding.GAPS, s, count, size, positions, planned)
    return Stars(StarCoding.BITMAP, s, count, bitmap, positions)


def _check_count(count: int, s: int) -> None:
    if not 0 < count < s:
        raise Refused(Refusal.BAD_STARS, f"{count} of {s} values are stars, which is not coded one by one.")
