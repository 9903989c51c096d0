"""What a vector can be in a message: whole, a part of it, or compressed; how each travels; what a receiver makes of it.

A payload is already what the receiver gets: nothing is rounded after it is made, so that sender and receiver expand it
to the same bits.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pame.compressors.growing_levels import heights
from pame.exchange import PartialMessage, ValueType, Vector, as_sent

FormName = Literal["partial", "dense", "sparse", "quantized", "levels", "signs"]
"""How a vector of a message travels: the values of `pame.algorithms.Form`, which is above this package."""


@dataclass(frozen=True, slots=True)
class Sparse(PartialMessage):
    """A partial message whose support depends on its values: nobody else can draw it."""


@dataclass(frozen=True, slots=True)
class Quantized:
    """Whole multiples of a step, `scale / steps`, in the range of ±scale."""

    bits: int
    """Per coordinate; from 2 on."""
    scale: float
    levels: NDArray[np.int64]
    """In -steps..steps."""

    @property
    def n(self) -> int:
        return self.levels.size

    @property
    def steps(self) -> int:
        return most_steps(self.bits)


@dataclass(frozen=True, slots=True)
class Levels:
    """Rungs of a ladder whose steps grow: q_0 = 0, q_{l+1} = growth q_l + first, and the same below 0."""

    first: float
    growth: float
    levels: NDArray[np.int64]

    @property
    def n(self) -> int:
        return self.levels.size


@dataclass(frozen=True, slots=True)
class Signs:
    """±scale."""

    scale: float
    negative: NDArray[np.bool_]

    @property
    def n(self) -> int:
        return self.negative.size


Payload = PartialMessage | Sparse | Quantized | Levels | Signs


def most_steps(bits: int) -> int:
    """The highest level that fits into so many bits with its sign."""
    return (1 << bits - 1) - 1


_FORMS: dict[type, FormName] = {
    PartialMessage: "partial",
    Sparse: "sparse",
    Quantized: "quantized",
    Levels: "levels",
    Signs: "signs",
}


def form_of(payload: Payload | Vector) -> FormName:
    return _FORMS.get(type(payload), "dense")


def expand(payload: Payload | Vector) -> Vector:
    """The whole vector; 0 where a partial message says nothing."""
    match payload:
        case PartialMessage():
            whole = np.zeros(payload.n)
            whole[payload.support] = payload.values
            return whole
        case Quantized():
            return payload.levels / payload.steps * payload.scale
        case Levels():
            return np.copysign(heights(payload.first, payload.growth, np.abs(payload.levels)), payload.levels)
        case Signs():
            return np.where(payload.negative, -payload.scale, payload.scale)
    return payload


def rounded(payload: Payload, values: ValueType) -> Payload:
    """The payload with its values as they travel; numbers that are not values are never float32."""
    if isinstance(payload, PartialMessage):
        return replace(payload, values=as_sent(payload.values, values))
    return payload
