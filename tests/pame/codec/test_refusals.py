"""Each reason to refuse a partial message, provoked by bytes made by hand."""

import struct

import pytest

from pame.codec import Draw, Refusal, StarCoding, SupportCoding, decode, encode, sizes
from pame.exchange import ValueType
from tests.pame.codec.oracle import message_of, refusing, slow_pack, slow_parameter, slow_rice

ONE = struct.pack("<d", 1.0)
S, G, B, A = SupportCoding
NONE, ALL, GAPS, BITMAP = StarCoding


def head(coding: SupportCoding, s: int, stars: StarCoding = NONE, values: ValueType = ValueType.FLOAT64) -> bytes:
    return bytes([1 | coding << 3 | values << 5 | stars << 6, s])


CASES: dict[str, tuple[Refusal, bytes, int]] = {
    "nothing at all": (Refusal.BAD_LENGTH, b"", 9),
    "only flags": (Refusal.BAD_LENGTH, head(B, 1)[:1], 9),
    "a varint that never ends": (Refusal.BAD_LENGTH, head(B, 1)[:1] + b"\x80\x80", 9),
    "a bitmap cut short": (Refusal.BAD_LENGTH, head(B, 1) + b"\x01", 9),
    "a checksum cut short": (Refusal.BAD_LENGTH, head(S, 1) + b"\x01\x02\x03", 9),
    "no Rice parameter": (Refusal.BAD_LENGTH, head(G, 1), 9),
    "too few bits for s gaps": (Refusal.BAD_LENGTH, head(G, 12) + slow_pack(slow_parameter(0) + "1" * 11), 200),
    "unary cut short": (Refusal.BAD_LENGTH, head(G, 8) + slow_pack(slow_parameter(0) + "1" * 7 + "0000"), 200),
    "values cut short": (Refusal.BAD_LENGTH, head(B, 1) + b"\x01\x00" + ONE[:-1], 9),
    "bytes left over": (Refusal.BAD_LENGTH, head(B, 1) + b"\x01\x00" + ONE + b"\x00", 9),
    "values although all are stars": (Refusal.BAD_LENGTH, head(B, 1, ALL) + b"\x01\x00" + ONE, 9),
    "a star bitmap cut short": (Refusal.BAD_LENGTH, head(A, 9, BITMAP) + b"\x01", 9),
    "no star count": (Refusal.BAD_LENGTH, head(A, 9, GAPS), 9),
    "version 0": (Refusal.UNKNOWN_VERSION, b"\x10\x01\x01\x00" + ONE, 9),
    "version 2": (Refusal.UNKNOWN_VERSION, b"\x12\x01\x01\x00" + ONE, 9),
    "a varint with a zero too many": (Refusal.BAD_VARINT, head(B, 1)[:1] + b"\x81\x00\x01\x00" + ONE, 9),
    "a varint of six bytes": (Refusal.BAD_VARINT, head(B, 1)[:1] + b"\x80\x80\x80\x80\x80\x01", 9),
    "s = 0": (Refusal.BAD_SIZE, head(B, 0) + b"\x00\x00", 9),
    "s = n + 1": (Refusal.BAD_SIZE, head(A, 10) + ONE * 10, 9),
    "a bitmap of two for s = 1": (Refusal.BAD_SUPPORT, head(B, 1) + b"\x03\x00" + ONE, 9),
    "all, with s < n": (Refusal.BAD_SUPPORT, head(A, 8) + ONE * 8, 9),
    "a unary gap beyond n": (Refusal.BAD_SUPPORT, head(G, 1) + slow_rice([9], 0) + ONE, 9),
    "remainders beyond n": (Refusal.BAD_SUPPORT, head(G, 1) + slow_rice([15], 3) + ONE, 13),
    "a bit after a bitmap": (Refusal.BAD_PADDING, head(B, 1) + b"\x01\x02" + ONE, 9),
    "a bit after the gaps": (Refusal.BAD_PADDING, head(G, 1) + slow_pack(slow_parameter(0) + "11") + ONE, 9),
    "a bit after a star bitmap": (Refusal.BAD_PADDING, head(A, 9, BITMAP) + b"\x01\x02" + ONE * 8, 9),
    "Rice parameter too large": (Refusal.NOT_CANONICAL, head(G, 1) + slow_rice([0], 1) + ONE, 9),
    "Rice parameter far too large": (Refusal.NOT_CANONICAL, head(G, 1) + slow_rice([0], 31) + ONE, 9),
    "Rice parameter too small": (Refusal.NOT_CANONICAL, head(G, 1) + slow_rice([8], 0) + ONE, 9),
    "star gaps longer than a bitmap": (
        Refusal.NOT_CANONICAL, head(A, 8, GAPS) + b"\x01" + slow_rice([0]) + ONE * 7, 8,
    ),
    "a star bitmap as long as gaps": (
        Refusal.NOT_CANONICAL, head(A, 16, BITMAP) + slow_pack("1" + "0" * 15) + ONE * 15, 16,
    ),
    "a bitmap of no stars": (Refusal.BAD_STARS, head(A, 9, BITMAP) + b"\x00\x00" + ONE * 9, 9),
    "a bitmap of all stars": (Refusal.BAD_STARS, head(A, 9, BITMAP) + b"\xff\x01", 9),
    "gaps of no stars": (Refusal.BAD_STARS, head(A, 9, GAPS) + b"\x00" + ONE * 9, 9),
    "gaps of all stars": (Refusal.BAD_STARS, head(A, 9, GAPS) + b"\x09" + slow_rice(range(9)), 9),
    "a star beyond s": (Refusal.BAD_STARS, head(A, 40, GAPS) + b"\x01" + slow_rice([40]) + ONE * 39, 40),
    "a drawn support nobody knows": (Refusal.UNKNOWN_DRAW, head(S, 1) + bytes(4) + ONE, 9),
    "not a number": (Refusal.NOT_FINITE, head(A, 1) + struct.pack("<d", float("nan")), 1),
    "infinity": (Refusal.NOT_FINITE, head(A, 1) + struct.pack("<d", float("-inf")), 1),
    "a signalling NaN in float32": (
        Refusal.NOT_FINITE, head(A, 1, NONE, ValueType.FLOAT32) + b"\x01\x00\x80\x7f", 1,
    ),
    "a signalling NaN": (Refusal.NOT_FINITE, head(A, 1) + bytes.fromhex("010000000000f07f"), 1),
    "a zero among the values": (Refusal.ZERO_VALUE, head(A, 2) + ONE + bytes(8), 2),
    "a float32 zero": (Refusal.ZERO_VALUE, head(A, 1, NONE, ValueType.FLOAT32) + bytes(4), 1),
}  # fmt: skip


@pytest.mark.parametrize(("code", "data", "n"), CASES.values(), ids=CASES)
def test_bytes_made_by_hand_are_refused_for_their_reason(code: Refusal, data: bytes, n: int) -> None:
    with refusing(code) as caught:
        decode(data, n)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("n", "seed", "sender", "iteration"), [(1000, 2, 2, 3), (1000, 1, 3, 3), (1000, 1, 2, 4), (1001, 1, 2, 3)]
)
def test_a_support_of_another_draw_or_dimension_is_a_checksum_mismatch(
    n: int, seed: int, sender: int, iteration: int
) -> None:
    draw = Draw(seed=1, sender=2, iteration=3)
    message = message_of(1000, draw.support(1000, 5).tolist(), [1.0] * 5)
    with refusing(Refusal.CHECKSUM_MISMATCH):
        decode(encode(message, coding=SupportCoding.SEED, draw=draw), n, Draw(seed, sender, iteration))


def test_every_code_has_a_case() -> None:
    assert {code for code, _, _ in CASES.values()} | {Refusal.CHECKSUM_MISMATCH} == set(Refusal)


def test_sizes_refuses_what_does_not_add_up() -> None:
    with refusing(Refusal.BAD_LENGTH):
        sizes(CASES["bytes left over"][1], 9)


def test_the_numbers_of_the_codings_are_pinned() -> None:
    assert {coding.name: int(coding) for coding in SupportCoding} == {"SEED": 0, "GAPS": 1, "BITMAP": 2, "ALL": 3}
    assert {coding.name: int(coding) for coding in StarCoding} == {"NONE": 0, "ALL": 1, "GAPS": 2, "BITMAP": 3}
