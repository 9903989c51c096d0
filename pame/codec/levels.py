"""Levels of a growing ladder on the wire: Elias' gamma code of |level| + 1, and a sign where the level is not 0.

    flags | first, float64 | growth, float64 | one bit string, low bits first, filled up with zeros to a whole byte:
        per coordinate `width` zeros and a one, 2^width <= |level| + 1 < 2^(width+1)
        planes: bit j of every |level| + 1 whose width is above j, for j = 0, 1, ...
        per level that is not 0, its sign: one if it is negative

That is gamma's length, 2 width + 1 bits, but sorted by what the bits mean, so that NumPy handles all at once. No length
is stored: the first part ends with its n-th one and says how long the others are.
"""

from math import isfinite

import numpy as np

from pame.codec.bits import Indices, bitmap_size, check_padding, take
from pame.codec.header import FLAGS, NUMBER_BYTES, read_number, split_flags, write_number
from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.compressors import Levels
from pame.compressors.growing_levels import MAX_RUNG, heights

_LONGEST = (MAX_RUNG + 1).bit_length()
"""The most bits a coordinate has in the first part."""


def encode_levels(levels: Levels) -> bytes:
    numbers = np.abs(levels.levels) + 1
    if not _is_on_the_ladder(levels.first, levels.growth, numbers):
        raise ValueError("levels to be sent must have finite heights and be at most 2^31 - 2")
    widths = _widths(numbers)
    terminators = np.cumsum(widths + 1) - 1
    first = np.zeros(int(terminators[-1]) + 1 if terminators.size else 0, dtype=np.bool_)
    first[terminators] = True
    signs = levels.levels[widths > 0] < 0
    planes = []
    for j in range(int(widths.max(initial=0))):
        wide = widths > j
        numbers, widths = numbers[wide], widths[wide]
        planes.append(numbers & 1 << j != 0)
    packed = np.packbits(np.concatenate([first, *planes, signs]), bitorder="little")
    head = FLAGS + write_number(levels.first, 0.0) + write_number(levels.growth, 1.0)
    return b"".join((head, packed.data))


def measure_levels(levels: Levels) -> Sizes:
    widths = _widths(np.abs(levels.levels) + 1)
    bits = widths.size + 2 * int(widths.sum()) + int(np.count_nonzero(widths))
    return Sizes(values=2 * NUMBER_BYTES + bitmap_size(bits), framing=len(FLAGS))


def decode_levels(data: bytes | memoryview, n: int) -> Levels:
    _, view = split_flags(data)
    first = read_number(view, 0.0, "first step")
    growth = read_number(view[NUMBER_BYTES:], 1.0, "growth")
    packed = view[2 * NUMBER_BYTES :]
    widths = _read_widths(packed, n)
    end = n + int(widths.sum())
    others = end - n + int(np.count_nonzero(widths))
    if len(packed) != bitmap_size(end + others):
        raise Refused(
            Refusal.BAD_LENGTH, f"The levels take {bitmap_size(end + others)} bytes, but {len(packed)} are left."
        )
    check_padding(packed, end + others, "levels")
    whole = np.frombuffer(packed[end // 8 :], dtype=np.uint8)
    bits = np.unpackbits(whole, bitorder="little")[end % 8 : end % 8 + others]
    numbers = np.left_shift(1, widths)
    some = wide = np.flatnonzero(widths)
    for j in range(int(widths.max(initial=0))):
        wide = wide[widths[wide] > j]
        numbers[wide] |= bits[: wide.size].astype(np.int64) << j
        bits = bits[wide.size :]
    if not _is_on_the_ladder(first, growth, numbers):
        raise Refused(Refusal.NOT_FINITE, "A level is not the number of a finite height.")
    numbers -= 1
    below = some[bits.view(np.bool_)]
    numbers[below] = -numbers[below]
    return Levels(first, growth, numbers)


def _widths(numbers: Indices) -> Indices:
    """The floor of log2: a double knows the exponent of every number below 2^53."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1


def _read_widths(packed: memoryview, n: int) -> Indices:
    """The zeros before each of the first n ones."""
    take(packed, bitmap_size(n), "levels")
    window = np.frombuffer(packed[: bitmap_size(n * _LONGEST)], dtype=np.uint8)
    last = int(np.searchsorted(np.cumsum(np.bitwise_count(window), dtype=np.int64), n))
    ones = np.flatnonzero(np.unpackbits(window[: last + 1], bitorder="little").view(np.bool_))
    if ones.size < n:
        raise Refused(Refusal.BAD_LENGTH, "The bytes end inside the levels.")
    widths = ones[:n].copy()
    widths[1:] -= ones[: n - 1] + 1
    if widths.max(initial=0) >= _LONGEST:
        raise Refused(Refusal.NOT_CANONICAL, f"A level has {widths.max() + 1} bits, but at most {_LONGEST} make sense.")
    return widths


def _is_on_the_ladder(first: float, growth: float, numbers: Indices) -> bool:
    highest = numbers.max(keepdims=True, initial=1) - 1
    return highest[0] <= MAX_RUNG and isfinite(heights(first, growth, highest)[0])
