"""Signs on the wire: flags | scale, float64 | n bits, set where the coordinate is negative."""

import numpy as np

from pame.codec.bits import bitmap_size, check_padding
from pame.codec.header import FLAGS, NUMBER_BYTES, read_number, split_flags, write_number
from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.compressors import Signs


def encode_signs(signs: Signs) -> bytes:
    packed = np.packbits(signs.negative, bitorder="little")
    return b"".join((FLAGS, write_number(signs.scale, 0.0), packed.data))


def measure_signs(signs: Signs) -> Sizes:
    return Sizes(values=NUMBER_BYTES + bitmap_size(signs.n), framing=len(FLAGS))


def decode_signs(data: bytes | memoryview, n: int) -> Signs:
    _, view = split_flags(data)
    scale = read_number(view, 0.0, "scale")
    packed = view[NUMBER_BYTES:]
    if len(packed) != bitmap_size(n):
        raise Refused(Refusal.BAD_LENGTH, f"{n} signs take {bitmap_size(n)} bytes, not {len(packed)}.")
    check_padding(packed, n, "signs")
    bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=n, bitorder="little")
    return Signs(scale, bits.view(np.bool_))
