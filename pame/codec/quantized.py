"""A quantized vector on the wire.

    flags | varint bits | scale, float64 | one bit string, low bits first, filled up with zeros to a whole byte:
                                           `bits` planes of n bits (plane j: bit j of level + steps, of every level)

Each level takes `bits` bits. The number 2^bits - 1 is no level and is refused.
"""

import numpy as np

from pame.codec.bits import bitmap_size, check_padding, read_varint, varint_size, write_varint
from pame.codec.header import FLAGS, NUMBER_BYTES, read_number, split_flags, write_number
from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.compressors import Quantized
from pame.compressors.payload import most_steps

MAX_BITS = 16


def encode_quantized(quantized: Quantized) -> bytes:
    bits, steps = quantized.bits, quantized.steps
    if not 2 <= bits <= MAX_BITS or (np.abs(quantized.levels) > steps).any():
        raise ValueError(f"not a quantized vector: levels of {bits} bits lie within {steps} of 0, and 2 <= bits <= 16")
    numbers = quantized.levels + steps
    planes = np.empty((bits, quantized.n), dtype=np.bool_)
    for j, plane in enumerate(planes):
        np.not_equal(numbers & (1 << j), 0, out=plane)
    packed = np.packbits(planes, axis=None, bitorder="little")
    return b"".join((FLAGS, write_varint(bits), write_number(quantized.scale, 0.0), packed.data))


def measure_quantized(quantized: Quantized) -> Sizes:
    packed = bitmap_size(quantized.n * quantized.bits)
    return Sizes(values=NUMBER_BYTES + packed, framing=len(FLAGS) + varint_size(quantized.bits))


def decode_quantized(data: bytes | memoryview, n: int) -> Quantized:
    _, view = split_flags(data)
    bits, used = read_varint(view)
    if not 2 <= bits <= MAX_BITS:
        raise Refused(Refusal.BAD_SIZE, f"Levels have from 2 to {MAX_BITS} bits, not {bits}.")
    scale = read_number(view[used:], 0.0, "scale")
    packed = view[used + NUMBER_BYTES :]
    if len(packed) != bitmap_size(n * bits):
        raise Refused(
            Refusal.BAD_LENGTH, f"{n} levels of {bits} bits take {bitmap_size(n * bits)} bytes, not {len(packed)}."
        )
    check_padding(packed, n * bits, "levels")
    planes = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=n * bits, bitorder="little").reshape(bits, n)
    levels = np.zeros(n, dtype=np.int64)
    for plane in planes[::-1]:
        levels <<= 1
        levels |= plane
    levels -= most_steps(bits)
    if levels.max(initial=0) > most_steps(bits):
        raise Refused(Refusal.NOT_CANONICAL, f"A level lies more than {most_steps(bits)} above 0.")
    return Quantized(bits, scale, levels)
