"""Hostile bytes cannot make the decoder allocate more than its documented bound."""

import pytest

from pame.codec import Draw, StarCoding, SupportCoding, decode
from tests.pame.codec.oracle import peak, slow_rice, slow_varint

DRAW = Draw(seed=1, sender=2, iteration=3)
LARGEST = 2**32 - 1
SMALL = 64 * 1024


def head(coding: SupportCoding, s: int, stars: StarCoding = StarCoding.NONE) -> bytes:
    return bytes([1 | coding << 3 | stars << 6]) + slow_varint(s)


def peak_of(data: bytes, n: int) -> int:
    return peak(lambda: decode(data, n, DRAW))


TINY = {
    "drawn, huge s": head(SupportCoding.SEED, LARGEST) + bytes(4),
    "drawn, huge s, some stars": head(SupportCoding.SEED, LARGEST, StarCoding.GAPS) + bytes(4) + b"\x05\xe0\x03",
    "drawn, huge s, star bitmap": head(SupportCoding.SEED, LARGEST, StarCoding.BITMAP) + bytes(30),
    "drawn, huge s, huge star count": (
        head(SupportCoding.SEED, LARGEST, StarCoding.GAPS) + bytes(4) + slow_varint(LARGEST - 1) + b"\x00" + bytes(40)
    ),
    "gaps, huge s": head(SupportCoding.GAPS, LARGEST) + b"\x00" + b"\xff" * 40,
    "gaps, huge s, huge parameter": head(SupportCoding.GAPS, LARGEST) + b"\x1f" + b"\xff" * 40,
    "gaps, quotients without end": head(SupportCoding.GAPS, 1) + b"\x00" + bytes(60),
    "bitmap, huge n": head(SupportCoding.BITMAP, 5) + b"\xff" * 60,
    "all, huge s": head(SupportCoding.ALL, LARGEST) + bytes(80),
    "all, huge s, star bitmap": head(SupportCoding.ALL, LARGEST, StarCoding.BITMAP) + bytes(80),
}


@pytest.mark.parametrize("name", TINY)
def test_a_few_bytes_that_claim_much_allocate_little_even_for_the_largest_model(name: str) -> None:
    assert peak_of(TINY[name], LARGEST) <= SMALL


@pytest.mark.parametrize("n", [1000, 100_000])
def test_the_worst_bytes_stay_within_64_times_model_and_data(n: int) -> None:
    hostile = {
        "drawn, all stars": head(SupportCoding.SEED, n // 2, StarCoding.ALL) + bytes(4),
        "all, all stars": head(SupportCoding.ALL, n, StarCoding.ALL),
        "gaps, every bit a one": head(SupportCoding.GAPS, n) + b"\x00" + b"\xff" * n,
        "gaps, a long gap of zeros": head(SupportCoding.GAPS, 1) + b"\x00" + bytes(4 * n),
        "gaps, wide remainders": head(SupportCoding.GAPS, n // 4) + b"\x1f" + b"\xff" * n,
        "gaps, complete, all stars": head(SupportCoding.GAPS, n, StarCoding.ALL) + slow_rice(range(n), 0),
        "gaps, every other, all stars": head(SupportCoding.GAPS, n // 2, StarCoding.ALL) + slow_rice(range(1, n, 2), 0),
        "gaps, parameter 1": head(SupportCoding.GAPS, n // 2, StarCoding.ALL) + slow_rice(range(1, n, 2), 1),
        "bitmap, every bit set": head(SupportCoding.BITMAP, 1) + b"\xff" * (n // 8) + bytes(8),
        "stars as gaps": head(SupportCoding.ALL, n, StarCoding.GAPS) + slow_varint(n // 2) + b"\x00" + b"\xff" * n,
        "stars as bitmap": head(SupportCoding.ALL, n, StarCoding.BITMAP) + b"\x55" * (n // 8) + b"\x01" * 8 * (n // 2),
    }
    for name, data in hostile.items():
        assert peak_of(data, n) <= 64 * (n + len(data)) + SMALL, name
