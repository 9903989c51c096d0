"""The wire codec: a partial message, or a dense vector, as one self-contained byte string, and back.

    partial   flags | varint s | support section | star section | values of the non-stars, little-endian, to the end
    flags     bits 0-2 format version (1), 3-4 support coding, 5 value type, 6-7 star coding

The dimension n is not in the bytes: the receiver passes its own. Everything is canonical: a message, a support coding
and a value type have exactly one byte string, and the decoder refuses any other. The decoder is total: every byte
string gives a message or `Refused`.
May import: the standard library, numpy, `pame.exchange`, `pame.sampling`, `pame.errors`.
"""

from pame.codec.dense import decode_dense, encode_dense, measure_dense
from pame.codec.partial import decode, encode, measure, sizes
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
    "decode",
    "decode_dense",
    "encode",
    "encode_dense",
    "measure",
    "measure_dense",
    "sizes",
]
