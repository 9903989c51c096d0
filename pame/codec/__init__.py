"""The wire codec: a vector, partial, dense or compressed, as one self-contained byte string, and back.

    partial     flags | varint s | support section | star section | values of the non-stars, little-endian, to the end
    flags       bits 0-2 format version (1), 3-4 support coding, 5 value type, 6-7 star coding
    dense       flags | n values
    sparse      as partial, its support spelt out in the smallest coding
    quantized   flags | varint bits | scale | n levels of so many bits
    levels      flags | first | growth | n levels in Elias' gamma code
    signs       flags | scale | n bits

The modules of these names have the details. The dimension n is not in the bytes: the receiver passes its own.
Everything is canonical: a message, a support coding and a value type have exactly one byte string, and the decoder
refuses any other. The decoder is total: every byte string gives a message or `Refused`.
May import: the standard library, numpy, `pame.exchange`, `pame.compressors`, `pame.sampling`, `pame.errors`.
"""

from pame.codec.dense import decode_dense, encode_dense
from pame.codec.partial import decode, encode, measure, sizes
from pame.codec.payloads import Wire, decode_payload, encode_payload, measure_payload
from pame.codec.refusal import Refusal, Refused
from pame.codec.sizes import Sizes
from pame.codec.stars import StarCoding
from pame.codec.supports import Draw, SupportCoding
from pame.codec.values import NotFinite

__all__ = [
    "Draw",
    "NotFinite",
    "Refusal",
    "Refused",
    "Sizes",
    "StarCoding",
    "SupportCoding",
    "Wire",
    "decode",
    "decode_dense",
    "decode_payload",
    "encode",
    "encode_dense",
    "encode_payload",
    "measure",
    "measure_payload",
    "sizes",
]
