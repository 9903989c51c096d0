"""The draws again, slowly, in plain Python integers: nothing of NumPy and nothing of `pame.randomness.draws`."""

from collections.abc import Iterator

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
    """The documented rule: as many integers as are missing, round after round; the complement for s > n/2."""
    stream = word_stream(key)
    few = n - s if 2 * s > n else s
    found: set[int] = set()
    while len(found) < few:
        found.update(_accepted(stream, few - len(found), n))
    return sorted(found if few == s else set(range(n)) - found)


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
