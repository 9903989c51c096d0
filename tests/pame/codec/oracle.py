"""The wire format once more, slow and obvious: strings of '0' and '1', and every Rice parameter tried in turn."""

import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from pame.codec import Refusal, Refused, StarCoding, SupportCoding
from pame.exchange import PartialMessage, ValueType
from pame.randomness import Key, Purpose, words


class Dice:
    """Integers from a key's words, one after the other (the small bias of `%` does not matter in a test)."""

    def __init__(self, seed: int, count: int = 1 << 16) -> None:
        self._words = words(Key(seed, Purpose.FEATURES), count).tolist()
        self._next = 0

    def below(self, limit: int) -> int:
        self._next = (self._next + 1) % len(self._words)
        return int(self._words[self._next] % limit)

    def bytes(self, count: int) -> bytes:
        return bytes(self.below(256) for _ in range(count))


def slow_bytes(message: PartialMessage, coding: SupportCoding, values: ValueType = ValueType.FLOAT64) -> bytes:
    """What `encode` must give for a fixed support coding."""
    support, numbers = message.support.tolist(), message.values.tolist()
    packed = [struct.pack("<f" if values is ValueType.FLOAT32 else "<d", x) for x in numbers]
    star_coding, stars = slow_stars([i for i, x in enumerate(packed) if not any(x)], len(packed))
    flags = int(f"{star_coding:02b}{values:b}{coding:02b}001", 2)
    start = bytes([flags]) + slow_varint(len(support)) + slow_support(support, message.n, coding)
    return start + stars + b"".join(x for x in packed if any(x))


def slow_support(support: Sequence[int], n: int, coding: SupportCoding) -> bytes:
    if coding is SupportCoding.SEED:
        return struct.pack("<I", zlib.crc32(struct.pack(f"<{len(support)}I", *support)))
    if coding is SupportCoding.GAPS:
        return slow_rice(support)
    return slow_bitmap(support, n) if coding is SupportCoding.BITMAP else b""


def slow_stars(positions: Sequence[int], s: int) -> tuple[StarCoding, bytes]:
    """The star coding that must be chosen, and its section."""
    if not positions:
        return StarCoding.NONE, b""
    if len(positions) == s:
        return StarCoding.ALL, b""
    gaps, bitmap = slow_varint(len(positions)) + slow_rice(positions), slow_bitmap(positions, s)
    return (StarCoding.GAPS, gaps) if len(gaps) <= len(bitmap) else (StarCoding.BITMAP, bitmap)


def slow_rice(indices: Sequence[int], parameter: int | None = None) -> bytes:
    """The Rice section with a given parameter, or with that of the shortest bit string (the first of them)."""
    gaps = [b - a - 1 for a, b in zip([-1, *indices], indices, strict=False)]
    if parameter is None:
        parameter = min(range(32), key=lambda b: sum(b + 1 + (g >> b) for g in gaps))
    planes = "".join(str(g >> j & 1) for j in range(parameter) for g in gaps)
    return slow_pack(slow_parameter(parameter) + planes + "".join("0" * (g >> parameter) + "1" for g in gaps))


def slow_parameter(parameter: int) -> str:
    """The five bits a Rice section starts with."""
    return f"{parameter:05b}"[::-1]


def slow_bitmap(indices: Sequence[int], universe: int) -> bytes:
    """Bit l is set if l is among the indices."""
    chosen = set(indices)
    return slow_pack("".join("1" if i in chosen else "0" for i in range(universe)))


def slow_pack(bits: str) -> bytes:
    """Bits, the first one lowest, in bytes."""
    return bytes(int(bits[i : i + 8][::-1], 2) for i in range(0, len(bits), 8))


def slow_varint(number: int) -> bytes:
    """7 bits per byte, the lowest first; all but the last byte have the top bit set."""
    groups = [number >> 7 * k & 127 for k in range(max(1, -(-number.bit_length() // 7)))]
    return bytes(g | 128 for g in groups[:-1]) + bytes(groups[-1:])


def message_of(n: int, support: Sequence[int], values: Sequence[float]) -> PartialMessage:
    return PartialMessage(n, np.array(support, dtype=np.int64), np.array(values, dtype=np.float64))


def same(a: object, b: object) -> bool:
    """Vectors or payloads of the same type, with the same bits (-0.0 is not 0.0)."""
    fields = getattr(a, "__dataclass_fields__", None)
    pairs = [(a, b)] if fields is None else [(getattr(a, name), getattr(b, name, None)) for name in fields]
    arrays = [(np.asarray(x), np.asarray(y)) for x, y in pairs]
    return type(a) is type(b) and all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in arrays)


def slow_quantized(bits: int, scale: float, levels: Sequence[int]) -> bytes:
    """What `encode_quantized` must give."""
    shifted = [level + 2 ** (bits - 1) - 1 for level in levels]
    planes = "".join(str(number >> j & 1) for j in range(bits) for number in shifted)
    return b"\x01" + slow_varint(bits) + struct.pack("<d", scale) + slow_pack(planes)


def slow_levels(first: float, growth: float, levels: Sequence[int]) -> bytes:
    """What `encode_levels` must give."""
    binary = [f"{abs(level) + 1:b}"[::-1] for level in levels]  # low bits first, the last one is a one
    unary = "".join("0" * (len(digits) - 1) + "1" for digits in binary)
    planes = "".join(digits[j] for j in range(31) for digits in binary if len(digits) - 1 > j)
    signs = "".join("1" if level < 0 else "0" for level in levels if level)
    return b"\x01" + struct.pack("<dd", first, growth) + slow_pack(unary + planes + signs)


def slow_signs(scale: float, negative: Sequence[bool]) -> bytes:
    """What `encode_signs` must give."""
    return b"\x01" + struct.pack("<d", scale) + slow_pack("".join("1" if bit else "0" for bit in negative))


@contextmanager
def refusing(code: Refusal) -> Iterator["pytest.ExceptionInfo[Refused]"]:
    with pytest.raises(Refused) as refused:
        yield refused
    assert refused.value.code is code


def peak(decode: Callable[[], object]) -> int:
    """Bytes allocated at the worst moment of decoding."""
    tracemalloc.start()
    try:
        decode()
    except Refused:
        pass
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return most
