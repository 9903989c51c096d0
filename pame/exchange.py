"""Partial message exchange (PME, the paper's Algorithm 2): what a node reveals, and how messages are averaged.

For each coordinate l, `lambda_l` is the number of received messages whose support holds l (a star counts):

    v_l = (sum of those values) / lambda_l   if lambda_l > 0,   else the node's own value w_l

Dividing by lambda_l, and not by the number of messages, is what makes the average unbiased (Theorem 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import isfinite

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_BLOCK = 1 << 14


class ValueType(IntEnum):
    """How a value travels. The numbers are part of the wire format."""

    FLOAT64 = 0
    FLOAT32 = 1

    @property
    def dtype(self) -> np.dtype[np.float64] | np.dtype[np.float32]:
        """The little-endian type on the wire."""
        return np.dtype("<f4") if self is ValueType.FLOAT32 else np.dtype("<f8")


@dataclass(frozen=True, slots=True)
class PartialMessage:
    """Support and values of one node at one iteration; `support` is ascending, from 0."""

    n: int
    support: NDArray[np.int64]
    values: Vector

    @property
    def stars(self) -> NDArray[np.bool_]:
        """Which of the values are true zeros (★). -0.0 is a value: its bits must survive."""
        return np.asarray(self.values == 0.0) & ~np.signbit(self.values)

    def __str__(self) -> str:
        shown = ["·"] * self.n
        for coordinate, value, star in zip(self.support, self.values, self.stars, strict=True):
            shown[coordinate] = "★" if star else f"{value:g}"
        return f"[{', '.join(shown)}]"


def reveal(model: Vector, support: NDArray[np.int64], values: ValueType = ValueType.FLOAT64) -> PartialMessage:
    """The partial message of a model; float32 rounding happens here, before anybody looks for stars."""
    return PartialMessage(model.size, support, as_sent(model[support], values))


def as_sent(vector: Vector, values: ValueType) -> Vector:
    """A vector of any shape as it travels; beyond the range of float32 lies infinity, which the codec refuses."""
    if values is ValueType.FLOAT64:
        return vector
    with np.errstate(over="ignore"):
        return vector.astype(np.float32).astype(np.float64)


@lru_cache(maxsize=64)
def blocks(n: int) -> tuple[slice, ...]:
    """Of a vector with n coordinates: several vectors taken one block after the other stay in the cache."""
    return tuple(slice(begin, begin + _BLOCK) for begin in range(0, n, _BLOCK))


def is_finite(vector: Vector | NDArray[np.float32]) -> bool:
    """A finite sum of squares has finite terms; the exact look is only needed where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return isfinite(vector.dot(vector)) or bool(np.isfinite(vector).all())


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The result of one exchange: the average `v` and the coverage `lambda` of each coordinate."""

    average: Vector
    coverage: NDArray[np.int64]


def aggregate(own: Vector, messages: Mapping[int, PartialMessage]) -> Aggregate:
    """Average the messages (by sender) coordinate by coordinate.

    Sums run in ascending order of the sender, in float64, with one division per coordinate: that order is what
    makes simulator and network agree to the last bit.
    """
    total = np.zeros_like(own)
    coverage = np.zeros(own.size, dtype=np.int64)
    for sender in sorted(messages):
        message = messages[sender]
        total[message.support] += message.values
        coverage[message.support] += 1
    covered = np.flatnonzero(coverage > 0)
    average = own.copy()
    average[covered] = total[covered] / coverage[covered]
    return Aggregate(average, coverage)
