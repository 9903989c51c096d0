"""Whatever a vector of a message is, as bytes and back: each form by its own codec."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pame.codec.dense import decode_dense, encode_dense, measure_dense
from pame.codec.levels import decode_levels, encode_levels, measure_levels
from pame.codec.partial import decode, decode_sparse, encode, measure
from pame.codec.quantized import decode_quantized, encode_quantized, measure_quantized
from pame.codec.signs import decode_signs, encode_signs, measure_signs
from pame.codec.sizes import Sizes
from pame.codec.supports import Draw, SupportCoding
from pame.compressors import Levels, Payload, Quantized, Signs, Sparse
from pame.exchange import PartialMessage, ValueType, Vector


@dataclass(frozen=True, slots=True)
class Wire:
    """What sender and receiver agree on: the draw of the supports, how a partial support travels, how values do."""

    draw: Draw
    coding: SupportCoding | None = None
    """None: the smallest."""
    values: ValueType = ValueType.FLOAT64


_WHOLE: Mapping[type, tuple[Callable[[Any], bytes], Callable[[Any], Sizes]]] = {
    Quantized: (encode_quantized, measure_quantized),
    Levels: (encode_levels, measure_levels),
    Signs: (encode_signs, measure_signs),
}
"""Of those that are coded in one way, whatever was agreed on: how to encode, how to measure."""


def encode_payload(payload: Payload | Vector, wire: Wire) -> bytes:
    """The bytes of a payload; `NotFinite` if a value is not finite."""
    match payload:
        case Sparse():
            return encode(payload, values=wire.values)
        case PartialMessage():
            return encode(payload, coding=wire.coding, values=wire.values, draw=wire.draw)
        case np.ndarray():
            return encode_dense(payload, wire.values)
    encode_whole, _ = _WHOLE[type(payload)]
    return encode_whole(payload)


def measure_payload(payload: Payload | Vector, wire: Wire) -> Sizes:
    match payload:
        case Sparse():
            return measure(payload, values=wire.values)
        case PartialMessage():
            return measure(payload, coding=wire.coding, values=wire.values, draw=wire.draw)
        case np.ndarray():
            return measure_dense(payload, wire.values)
    _, measure_whole = _WHOLE[type(payload)]
    return measure_whole(payload)


def decode_payload(data: bytes | memoryview, form: str, n: int, draw: Draw) -> Payload | Vector:
    """The payload of n coordinates in the bytes, or `Refused`; `form` is one of `FormName`."""
    match form:
        case "partial":
            return decode(data, n, draw)
        case "dense":
            return decode_dense(data, n)
        case "sparse":
            return decode_sparse(data, n)
        case "quantized":
            return decode_quantized(data, n)
        case "levels":
            return decode_levels(data, n)
        case "signs":
            return decode_signs(data, n)
    raise ValueError(f"vectors do not travel as {form!r}")
