"""A whole vector on the wire: a flags byte (bits 0-2 version 1, bit 3 value type, the rest zero) and n values."""

from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.codec.values import from_wire, to_wire
from pame.exchange import ValueType, Vector

_VERSION = 1


def encode_dense(vector: Vector, values: ValueType = ValueType.FLOAT64) -> bytes:
    """The bytes of a vector; `NotFinite` if a coordinate is not finite."""
    return b"".join((bytes([_VERSION | values << 3]), to_wire(vector, values).data))


def measure_dense(vector: Vector, values: ValueType = ValueType.FLOAT64) -> Sizes:
    return Sizes(values=vector.size * values.dtype.itemsize, framing=1)


def decode_dense(data: bytes | memoryview, n: int) -> Vector:
    """The vector of n coordinates in the bytes, or `Refused`."""
    view = memoryview(data)
    if not view:
        raise Refused(Refusal.BAD_LENGTH, "There are no bytes.")
    flags = view[0]
    if flags & 7 != _VERSION:
        raise Refused(Refusal.UNKNOWN_VERSION, f"Format version {flags & 7} is not known; this is version {_VERSION}.")
    if flags >> 4:
        raise Refused(Refusal.BAD_PADDING, "The flags have a bit set that means nothing.")
    value_type = ValueType(flags >> 3 & 1)
    expected = 1 + n * value_type.dtype.itemsize
    if len(view) != expected:
        raise Refused(Refusal.BAD_LENGTH, f"A vector of {n} takes {expected} bytes, not {len(view)}.")
    return from_wire(view[1:], value_type)
