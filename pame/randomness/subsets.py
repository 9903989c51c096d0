"""Uniform subsets, by the quicker of two exact methods.

`marks`: integers below n are drawn, each round as many as are still missing, until s distinct ones are there.

`gaps` (n >= 2^14, s/n >= 1/64): every coordinate is taken with probability q, independently, by drawing the distances
from one taken coordinate to the next: P(distance > d) = (1 - q)^d, to 64 bits. That gives the coordinates in order,
from a quarter of a word each. q is chosen such that rarely fewer than s are taken; the surplus is deleted at random.

Whether a draw is thrown away depends only on how many coordinates it has, never on which: no coordinate is treated
differently from another, hence every subset is equally likely.
"""

from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from pame.randomness.draws import CHUNK, accepted_below, halves
from pame.randomness.key import Key, stream

_UNKNOWN = 0  # no distance is 0


def subset(key: Key, n: int, s: int) -> NDArray[np.int64]:
    """A uniform s-element subset of range(n), ascending; for s > n/2 its complement is drawn."""
    if not 0 <= s <= n:
        raise ValueError(f"there is no subset of {s} out of {n}")
    generator = stream(key)
    if 2 * s <= n:
        return _subset(generator, n, s)
    left = np.ones(n, dtype=np.bool_)
    left[_subset(generator, n, n - s)] = False
    return np.flatnonzero(left)


def by_gaps(n: int, s: int) -> bool:
    return n >= 1 << 14 and 64 * s >= n


def _subset(generator: np.random.Philox, n: int, s: int) -> NDArray[np.int64]:
    if not by_gaps(n, s):
        return np.flatnonzero(_marks(generator, n, s))
    probability = -(-((s + 4 * isqrt(s)) << 16) // n)  # of 2^16
    mean = probability * n >> 16
    count = mean + 6 * isqrt(mean)
    while True:
        taken = _cumulated_gaps(generator, probability, count)
        size = int(np.searchsorted(taken, n))
        if s <= size < count:
            break
    kept = np.ones(size, dtype=np.bool_)
    kept[_subset(generator, size, size - s)] = False
    return taken[:size][kept]


def _cumulated_gaps(generator: np.random.Philox, probability: int, count: int) -> NDArray[np.int64]:
    """The first `count` coordinates taken, each with probability / 2^16.

    A distance is drawn from 64 bits: a quarter of a word and, only where that leaves it open, the upper 48 bits of one
    of the words that follow the quarters.
    """
    limits, by_quarter = _distances(probability)
    quarters = generator.random_raw(-(-count // 4)).astype("<u8", copy=False).view("<u2")[:count]
    distance = np.empty(count, dtype=np.int64)
    for start in range(0, count, CHUNK):
        distance[start : start + CHUNK] = by_quarter[quarters[start : start + CHUNK]]
    unknown = np.flatnonzero(distance == _UNKNOWN)
    rest = generator.random_raw(unknown.size) >> np.uint64(16)
    drawn = (quarters[unknown].astype(np.uint64) << np.uint64(48)) | rest
    distance[unknown] = np.searchsorted(limits, drawn, side="right") + 1
    distance[0] -= 1
    return np.cumsum(distance, out=distance)


@lru_cache(maxsize=8)
def _distances(probability: int) -> tuple[NDArray[np.uint64], NDArray[np.int16]]:
    """Limits L with distance = 1 + #{L <= 64-bit draw}; and distances by the draw's upper 16 bits, where these decide.

    L_d = 2^64 (1 - (1 - q)^d), computed with 128 bits so that it is the same everywhere.
    """
    limits, further = [], 1 << 128
    while (further := further * ((1 << 16) - probability) >> 16) >> 64:
        limits.append((1 << 64) - (further >> 64))
    bounds = np.array(limits, dtype=np.uint64)
    first = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    low = np.searchsorted(bounds, first, side="right")
    high = np.searchsorted(bounds, first | np.uint64((1 << 48) - 1), side="right")
    return bounds, np.where(low == high, low + 1, _UNKNOWN).astype(np.int16)


def _marks(generator: np.random.Philox, n: int, s: int) -> NDArray[np.bool_]:
    """A mask of n with s marked: a round draws as many as are missing, so that none is ever too many."""
    marked, missing = np.zeros(n, dtype=np.bool_), s
    while missing > n >> 6:
        for start in range(0, missing, CHUNK):
            marked[accepted_below(halves(generator, min(CHUNK, missing - start)), n)] = True
        missing = s - int(np.count_nonzero(marked))
    while missing:  # few: looking at them is cheaper than counting the mask
        drawn = accepted_below(halves(generator, missing), n)
        fresh = drawn[~marked[drawn]]
        marked[fresh] = True
        fresh.sort()
        missing -= fresh.size - int(np.count_nonzero(fresh[1:] == fresh[:-1]))
    return marked
