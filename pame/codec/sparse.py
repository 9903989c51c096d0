"""A partial message on a support that nobody else can draw: `partial` with the smallest coding that spells it out."""

from pame.codec import supports
from pame.codec.partial import decode, encode, measure
from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.codec.supports import SupportCoding
from pame.compressors import Sparse
from pame.exchange import ValueType


def encode_sparse(sparse: Sparse, values: ValueType = ValueType.FLOAT64) -> bytes:
    return encode(sparse, values=values)


def measure_sparse(sparse: Sparse, values: ValueType = ValueType.FLOAT64) -> Sizes:
    return measure(sparse, values=values)


def decode_sparse(data: bytes | memoryview, n: int) -> Sparse:
    """The sparse vector in the bytes, or `Refused`: also if another coding of its support is smaller."""
    message = decode(data, n)
    coding = SupportCoding(data[0] >> 3 & 3)
    if supports.plan(message.support, n, None, None).coding is not coding:
        raise Refused(Refusal.NOT_CANONICAL, f"The support is coded as {coding.name.lower()}: another is smaller.")
    return Sparse(n, message.support, message.values)
