"""Uniform numbers, integers, normal numbers and permutations from a key's words.

Only additions, multiplications, divisions, square roots and integer operations are used: each is exactly
rounded by IEEE 754, so that a draw has the same bits on every machine.
"""

import numpy as np
from numpy.typing import NDArray

from pame.randomness.key import Key, stream, words
from pame.randomness.normal_quantile import normal_quantile

CHUNK = 1 << 14  # numbers handled at a time: temporaries stay in the cache
_SHIFT_32 = np.uint64(32)


def uniforms(key: Key, count: int) -> NDArray[np.float64]:
    """`count` numbers uniform in [0, 1): the upper 53 bits of each word."""
    return (words(key, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normals(key: Key, count: int) -> NDArray[np.float64]:
    """`count` standard normal numbers: the normal quantile of (upper 52 bits + 1/2) / 2^52."""
    generator = stream(key)
    out = np.empty(count)
    for start in range(0, count, CHUNK):
        piece = out[start : start + CHUNK]
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
        out = np.concatenate([out, accepted_below(halves(generator, count - out.size), below)])
    return out


def permutation(key: Key, n: int) -> NDArray[np.int64]:
    """A uniform permutation of range(n): the stable order of n words."""
    return np.argsort(words(key, n), kind="stable").astype(np.int64)


def halves(generator: np.random.Philox, count: int) -> NDArray[np.uint32]:
    """`count` 32-bit halves of the next words, lower half first; an odd last half is thrown away."""
    return generator.random_raw((count + 1) // 2).astype("<u8", copy=False).view("<u4")[:count]


def accepted_below(drawn: NDArray[np.uint32], below: int) -> NDArray[np.int64]:
    """Lemire's multiply-shift: half * below / 2^32; a half is rejected where that would be biased."""
    product = np.multiply(drawn, np.uint64(below), dtype=np.uint64)
    biased = 2**32 % below
    remainder = product.astype(np.uint32)
    if remainder.size and remainder.min() < biased:
        product = product[remainder >= biased]
    np.right_shift(product, _SHIFT_32, out=product)
    return product.view(np.int64)
