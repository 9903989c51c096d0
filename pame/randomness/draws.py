"""Uniform numbers, integers, normal numbers, permutations and subsets from a key's words.

Only additions, multiplications, divisions, square roots and integer operations are used: each is exactly
rounded by IEEE 754, so that a draw has the same bits on every machine.
"""

import numpy as np
from numpy.typing import NDArray

from pame.randomness.key import Key, stream, words
from pame.randomness.normal_quantile import normal_quantile

_CHUNK = 1 << 14  # words handled at a time: temporaries stay in the cache
_SHIFT_32 = np.uint64(32)


def uniforms(key: Key, count: int) -> NDArray[np.float64]:
    """`count` numbers uniform in [0, 1): the upper 53 bits of each word."""
    return (words(key, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normals(key: Key, count: int) -> NDArray[np.float64]:
    """`count` standard normal numbers: the normal quantile of (upper 52 bits + 1/2) / 2^52."""
    generator = stream(key)
    out = np.empty(count)
    for start in range(0, count, _CHUNK):
        piece = out[start : start + _CHUNK]
        piece[:] = normal_quantile(
            ((generator.random_raw(piece.size) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        )
    return out


def integers(key: Key, count: int, below: int) -> NDArray[np.int64]:
    """`count` integers uniform in [0, below), below <= 2^32: accepted halves of the words, in order."""
    if not 1 <= below <= 1 << 32:
        raise ValueError(f"integers below {below} were asked for; from 1 to 2^32 can be drawn")
    generator = stream(key)
    out = np.empty(0, dtype=np.int64)
    while out.size < count:
        out = np.concatenate([out, _below(_halves(generator, count - out.size), below)])
    return out


def permutation(key: Key, n: int) -> NDArray[np.int64]:
    """A uniform permutation of range(n): the stable order of n words."""
    return np.argsort(words(key, n), kind="stable").astype(np.int64)


def subset(key: Key, n: int, s: int) -> NDArray[np.int64]:
    """A uniform s-element subset of range(n), ascending.

    Integers below n are drawn, each round as many as are still missing, until s distinct ones are there
    (for s > n/2: the complement is drawn so). How many are drawn depends only on how many were found, never
    on which: no coordinate is treated differently from another, hence every subset is equally likely.
    """
    if not 0 <= s <= n:
        raise ValueError(f"there is no subset of {s} out of {n}")
    buffer = np.zeros(n + _tail(n, s), dtype=np.bool_)
    chosen = buffer[:n]
    if 2 * s > n:
        _mark_distinct(chosen, key, n - s)
        np.logical_not(chosen, out=chosen)
    else:
        _mark_distinct(chosen, key, s)
    buffer[n:] = True
    return np.flatnonzero(buffer)[:s]


def _tail(n: int, s: int) -> int:
    """How many true values to append to a mask of s in n, so that NumPy finds the s quickly.

    Up to a share of 10 % `flatnonzero` searches with memchr, which between 2 % and 10 % takes up to three
    times as long as the branch-free loop it uses above.
    """
    return (n - 10 * s) // 9 + 1 if n >= 1 << 16 and n < 50 * s and 10 * s <= n else 0


def _mark_distinct(chosen: NDArray[np.bool_], key: Key, s: int) -> None:
    """Mark s distinct values: each round draws as many as are missing, so none is ever too many."""
    generator = stream(key)
    n, missing = chosen.size, s
    while missing > n >> 6:
        for start in range(0, missing, _CHUNK):
            chosen[_below(_halves(generator, min(_CHUNK, missing - start)), n)] = True
        missing = s - int(np.count_nonzero(chosen))
    while missing:  # few: looking at them is cheaper than counting the mask
        drawn = _below(_halves(generator, missing), n)
        fresh = drawn[~chosen[drawn]]
        chosen[fresh] = True
        fresh.sort()
        missing -= fresh.size - int(np.count_nonzero(fresh[1:] == fresh[:-1]))


def _halves(generator: np.random.Philox, count: int) -> NDArray[np.uint32]:
    """`count` 32-bit halves of the next words, lower half first; an odd last half is thrown away."""
    return generator.random_raw((count + 1) // 2).astype("<u8", copy=False).view("<u4")[:count]


def _below(halves: NDArray[np.uint32], below: int) -> NDArray[np.int64]:
    """Lemire's multiply-shift: half * below / 2^32; a half is rejected where that would be biased."""
    product = np.multiply(halves, np.uint64(below), dtype=np.uint64)
    biased = 2**32 % below
    remainder = product.astype(np.uint32)
    if remainder.size and remainder.min() < biased:
        product = product[remainder >= biased]
    np.right_shift(product, _SHIFT_32, out=product)
    return product.view(np.int64)
