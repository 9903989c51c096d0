"""A whole vector on the wire: a flags byte (bits 0-2 version 1, bit 3 value type, the rest zero) and n values."""

from pame.codec.header import VERSION, split_flags
from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.codec.values import from_wire, to_wire
from pame.exchange import ValueType, Vector


def encode_dense(vector: Vector, values: ValueType = ValueType.FLOAT64) -> bytes:
    """The bytes of a vector; `NotFinite` if a coordinate is not finite."""
    return b"".join((bytes([VERSION | values << 3]), to_wire(vector, values).data))


def measure_dense(vector: Vector, values: ValueType = ValueType.FLOAT64) -> Sizes:
    return Sizes(values=vector.size * values.dtype.itemsize, framing=1)


def decode_dense(data: bytes | memoryview, n: int) -> Vector:
    flags, values = split_flags(data, bits=4)
    value_type = ValueType(flags >> 3)
    expected = n * value_type.dtype.itemsize
    if len(values) != expected:
        raise Refused(Refusal.BAD_LENGTH, f"A vector of {n} takes {1 + expected} bytes, not {1 + len(values)}.")
    return from_wire(values, value_type)
