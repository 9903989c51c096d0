"""A ladder whose steps grow geometrically, q_0 = 0 and q_{l+1} = growth q_l + first, by multiplications and additions.

2^j steps at once are q -> A_j q + B_j, with A_0 = growth, B_0 = first, A_{j+1} = A_j^2, B_{j+1} = A_j B_j + B_j. The
height of rung l takes the jumps of the ones of l, the largest first. Unlike powers and logarithms these operations are
exactly rounded by IEEE 754, so that a height has the same bits on every machine.
"""

from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from pame.exchange import Vector

Rungs = NDArray[np.int64]

MAX_RUNG = 2**31 - 2
_JUMPS = MAX_RUNG.bit_length() - 1
_CHUNK = 1 << 14  # coordinates handled at a time: temporaries stay in the cache


def heights(first: float, growth: float, rungs: Rungs) -> Vector:
    """The heights of rungs from 0 on; infinity beyond the doubles."""
    highest = int(rungs.max(initial=0))
    if highest < rungs.size // 4:  # looking them up is quicker
        table: Vector = heights(first, growth, np.arange(highest + 1))[rungs]
        return table
    jumps = _jumps(first, growth, highest.bit_length(), inf)
    height = np.zeros(rungs.size)
    with np.errstate(over="ignore"):
        for j, (factor, offset) in reversed(list(enumerate(jumps))):
            height = np.where(rungs & 1 << j, factor * height + offset, height)
    height[rungs >> len(jumps) > 0] = inf
    return height


def climb(first: float, growth: float, magnitudes: Vector) -> tuple[Rungs, Vector]:
    """The highest rungs that are not above the magnitudes, and their heights."""
    jumps = _jumps(first, growth, _JUMPS, float(magnitudes.max(initial=0.0)))
    rungs, height = np.zeros(magnitudes.size, dtype=np.int64), np.zeros(magnitudes.size)
    with np.errstate(over="ignore"):
        for start in range(0, magnitudes.size, _CHUNK):
            piece = slice(start, start + _CHUNK)
            for j, (factor, offset) in reversed(list(enumerate(jumps))):
                above = factor * height[piece] + offset
                reached = above <= magnitudes[piece]
                height[piece] = np.where(reached, above, height[piece])
                rungs[piece] |= reached.astype(np.int64) << j
    return rungs, height


def _jumps(first: float, growth: float, most: int, highest: float) -> list[tuple[float, float]]:
    """At most so many, none of which alone leads above `highest` or out of the doubles."""
    jumps: list[tuple[float, float]] = []
    factor, offset = growth, first
    while len(jumps) < most and offset <= highest and isfinite(offset) and isfinite(factor):
        jumps.append((factor, offset))
        factor, offset = factor * factor, factor * offset + offset
    return jumps
