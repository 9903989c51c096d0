"""Golomb-Rice coding of an ascending set of indices: within a few percent of log2 C(universe, count) bits.

    gaps        g_0 = p_0,  g_i = p_i - p_{i-1} - 1;   each gap is (quotient g >> b, remainder: the low b bits)
    section     one bit string, low bits first, filled up with zeros to a whole byte: 5 bits b,
                b planes of `count` bits (plane j: bit j of every gap), then per gap `quotient` zeros and a one

Size in bits with parameter b: 5 + count (b + 1) + Q_b, where Q_b is the sum of all g >> b. It is convex in b (each step
takes ceil((g >> b) / 2) off a gap's quotient, ever less), so a local minimum is the minimum; of equal ones the
smallest b is chosen. A decoder that has the quotients q and the planes sees whether b was the right choice:

    b - 1 is worse:      Q_b + (ones in plane b-1) > count,   as Q_{b-1} = 2 Q_b + (ones in plane b-1)
    b + 1 is no better:  Q_b + (odd q) <= 2 count,            as Q_{b+1} = (Q_b - (odd q)) / 2

No length is stored: since the gaps add up to at most universe - count, the unary part is at most
count + (universe - count >> b) bits long, and it ends with its last one.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from pame.codec.bits import Indices, check_padding, take
from pame.codec.refusal import Refusal, Refused

_PARAMETER_BITS = 5
MAX_PARAMETER = (1 << _PARAMETER_BITS) - 1  # enough: gaps are below 2^32


@dataclass(frozen=True, slots=True)
class Rice:
    """A set of indices, ready to be written: its gaps, the best parameter, the sum of the quotients."""

    gaps: Indices
    parameter: int
    quotients: int

    @property
    def bits(self) -> int:
        return _PARAMETER_BITS + self.gaps.size * (self.parameter + 1) + self.quotients

    @property
    def size(self) -> int:
        return (self.bits + 7) // 8


def least_size(count: int) -> int:
    """What a section takes at least, in bytes: a gap is one bit or more."""
    return (_PARAMETER_BITS + count + 7) // 8


def plan(indices: Indices) -> Rice:
    """The best coding of at least one index, ascending."""
    gaps = indices.copy()
    gaps[1:] -= indices[:-1]
    gaps[1:] -= 1
    count = gaps.size
    mean = (int(indices[-1]) + 1 - count) / count

    def quotients(b: int) -> int:
        return int(np.add.reduce(gaps >> b))

    b = min(MAX_PARAMETER, int(mean * log(2)).bit_length())  # 2^b near the median of geometric gaps
    here = quotients(b)
    while b > 0 and (below := quotients(b - 1)) <= here + count:
        b, here = b - 1, below
    while b < MAX_PARAMETER and (above := quotients(b + 1)) + count < here:
        b, here = b + 1, above
    return Rice(gaps, b, here)


def write(rice: Rice) -> bytes:
    gaps, b, count = rice.gaps, rice.parameter, rice.gaps.size
    string = np.zeros(rice.bits, dtype=np.bool_)
    string[:_PARAMETER_BITS] = [b >> j & 1 for j in range(_PARAMETER_BITS)]
    unary = _PARAMETER_BITS + b * count
    for j, plane in enumerate(string[_PARAMETER_BITS:unary].reshape(b, count)):
        np.not_equal(gaps & (1 << j), 0, out=plane)
    terminators = np.cumsum(gaps >> b)
    terminators += np.arange(count)
    string[unary:][terminators] = True
    return np.packbits(string, bitorder="little").tobytes()


def read(view: memoryview, count: int, universe: int, what: str, blame: Refusal) -> tuple[Indices, int]:
    """The indices at the start of a view, and how many bytes they take; 1 <= count <= universe."""
    b = take(view, 1, what)[0] & MAX_PARAMETER
    unary = _PARAMETER_BITS + b * count
    take(view, (unary + count + 7) // 8, what)

    terminators = _terminators(view, unary, count, count + (universe - count >> b), what, blame)
    end = unary + int(terminators[-1]) + 1
    packed = view[: (end + 7) // 8]
    check_padding(packed, end, what)

    bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=unary, bitorder="little")
    planes = bits[_PARAMETER_BITS:].reshape(b, count)
    order = np.arange(count)
    quotients = terminators - order  # running sums
    ones = int(np.count_nonzero(planes[-1])) if b else 0
    _check_parameter(b, quotients, ones, what)

    remainders = np.zeros(count, dtype=np.int64)
    for plane in planes[::-1]:
        remainders <<= 1
        remainders |= plane
    indices = np.cumsum(remainders, out=remainders)
    quotients <<= b
    indices += quotients
    indices += order
    if indices[-1] >= universe:
        raise Refused(blame, f"The {what} goes up to {indices[-1]}, but must stay below {universe}.")
    return indices, len(packed)


def _terminators(packed: memoryview, first_bit: int, count: int, longest: int, what: str, blame: Refusal) -> Indices:
    """Where, counted from `first_bit`, the first `count` ones are; they must lie within `longest` bits."""
    window = min(longest, 8 * len(packed) - first_bit)
    whole = packed[first_bit // 8 : (first_bit + window + 7) // 8]
    string = np.unpackbits(np.frombuffer(whole, dtype=np.uint8), bitorder="little")
    ones = np.flatnonzero(string.view(np.bool_)[first_bit % 8 : first_bit % 8 + window])
    if ones.size < count:
        if window == longest:
            raise Refused(blame, f"The gaps of the {what} add up to more than there is room for.")
        raise Refused(Refusal.BAD_LENGTH, f"The bytes end inside the {what}.")
    return ones[:count]


def _check_parameter(b: int, running_quotients: Indices, ones_in_top_plane: int, what: str) -> None:
    count, total = running_quotients.size, int(running_quotients[-1])
    odd_first = int(running_quotients[0]) & 1
    odd = odd_first + int(np.count_nonzero((running_quotients[1:] ^ running_quotients[:-1]) & 1))
    too_large = b > 0 and total + ones_in_top_plane <= count
    too_small = b < MAX_PARAMETER and total + odd > 2 * count
    if too_large or too_small:
        raise Refused(Refusal.NOT_CANONICAL, f"The {what} has Rice parameter {b}, which is not the best one.")
