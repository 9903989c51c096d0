"""The draws again, slowly, in plain Python integers: nothing of NumPy and nothing of `pame.randomness.draws`."""

from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor, isqrt

from pame.randomness import Key

_MASK = 2**64 - 1


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """One block of Philox4x64-10, as Salmon and others define it (SC 2011)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2E7470EE14C6C93 * c0, 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = (p1 >> 64) ^ c1 ^ k0, p1 & _MASK, (p0 >> 64) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & _MASK, (k1 + 0xBB67AE8584CAA73B) & _MASK
    return c0, c1, c2, c3


def word_stream(key: Key) -> Iterator[int]:
    """The words of a key: blocks 1, 2, 3, ..."""
    block = 0
    while True:
        block += 1
        yield from philox((block, key.iteration, key.node, key.peer), (key.seed, int(key.purpose)))


def slow_words(key: Key, count: int) -> list[int]:
    stream = word_stream(key)
    return [next(stream) for _ in range(count)]


def slow_subset(key: Key, n: int, s: int) -> list[int]:
    """The documented rules; the complement for s > n/2."""
    few = n - s if 2 * s > n else s
    found = _few(word_stream(key), n, few)
    return sorted(found if few == s else set(range(n)) - found)


def _few(stream: Iterator[int], n: int, few: int) -> set[int]:
    return _walked(stream, n, few) if n >= 2**14 and few / n >= 1 / 64 else _marked(stream, n, few)


def _marked(stream: Iterator[int], n: int, few: int) -> set[int]:
    """As many integers as are missing, round after round."""
    found: set[int] = set()
    while len(found) < few:
        found.update(_accepted(stream, few - len(found), n))
    return found


def _walked(stream: Iterator[int], n: int, few: int) -> set[int]:
    """From one coordinate to the next by geometric distances, until the count is right; then the surplus goes."""
    share = Fraction(ceil(Fraction((few + 4 * isqrt(few)) * 2**16, n)), 2**16)
    mean = floor(share * n)
    while True:
        taken = slow_walk(stream, share, mean + 6 * isqrt(mean))
        inside = [coordinate for coordinate in taken if coordinate < n]
        if few <= len(inside) < len(taken):
            break
    gone = _few(stream, len(inside), len(inside) - few)
    return {coordinate for rank, coordinate in enumerate(inside) if rank not in gone}


def slow_walk(stream: Iterator[int], share: Fraction, count: int) -> list[int]:
    """A distance is d if the 64-bit draw lies between 2^64 (1 - (1 - q)^(d-1)) and 2^64 (1 - (1 - q)^d), rounded up.

    Draws begin with 16 bits; those that leave the distance open get 48 more, from the words after all first 16 bits.
    """
    quarters: list[int] = []
    while len(quarters) < count:
        word = next(stream)
        quarters += [(word >> shift) % 2**16 for shift in (0, 16, 32, 48)]
    limits: list[int] = []
    far = 2**128
    while True:
        far = floor(far * (1 - share))
        if far < 2**64:
            break
        limits.append(2**64 - far // 2**64)
    place, places = -1, []
    for quarter in quarters[:count]:
        distance = bisect_right(limits, quarter * 2**48) + 1
        if distance != bisect_right(limits, quarter * 2**48 + 2**48 - 1) + 1:
            distance = bisect_right(limits, quarter * 2**48 + next(stream) // 2**16) + 1
        place += distance
        places.append(place)
    return places


def slow_integers(key: Key, count: int, below: int) -> list[int]:
    stream = word_stream(key)
    out: list[int] = []
    while len(out) < count:
        out += _accepted(stream, count - len(out), below)
    return out


def _accepted(stream: Iterator[int], count: int, below: int) -> list[int]:
    """From `count` halves, the lower of a word first, an odd last one thrown away: what Lemire's rule accepts."""
    halves: list[int] = []
    while len(halves) < count:
        word = next(stream)
        halves += [word % 2**32, word >> 32]
    products = [half * below for half in halves[:count]]
    return [product >> 32 for product in products if product % 2**32 >= 2**32 % below]
