"""Compressed vectors on the wire: byte for byte what the layout says, and back; sizes; every reason to refuse one."""

import struct
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pame.codec import (
    Draw,
    NotFinite,
    Refusal,
    Sizes,
    SupportCoding,
    Wire,
    decode_payload,
    encode_payload,
    measure_payload,
)
from pame.codec.levels import encode_levels
from pame.codec.quantized import encode_quantized
from pame.codec.signs import encode_signs
from pame.compressors import AdaptiveQuantizer, Levels, Payload, Quantized, Signs, Sparse, TopK, expand, form_of
from pame.exchange import ValueType
from pame.randomness import Key, Purpose, normals
from tests.pame.codec.oracle import refusing, same, slow_bytes, slow_levels, slow_pack, slow_quantized, slow_signs

WIRE = Wire(Draw(seed=9, sender=1, iteration=4))
positive = st.floats(0.0, 1e300).map(abs)


def as_levels(numbers: list[int]) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64)


@st.composite
def quantized(draw: st.DrawFn) -> Quantized:
    bits = draw(st.integers(2, 16))
    most = 2 ** (bits - 1) - 1
    return Quantized(bits, draw(positive), as_levels(draw(st.lists(st.integers(-most, most), min_size=1, max_size=70))))


@st.composite
def levels(draw: st.DrawFn) -> Levels:
    most = draw(st.sampled_from([0, 1, 3, 200, 2**31 - 2]))
    numbers = as_levels(draw(st.lists(st.integers(-most, most), min_size=1, max_size=70)))
    return Levels(draw(st.floats(0.0, 1e9)), draw(st.floats(1.0, 2.0 if most < 201 else 1.0 + 1e-8)), numbers)


signs = st.builds(Signs, positive, st.lists(st.booleans(), min_size=1, max_size=70).map(np.array))


@st.composite
def sparse(draw: st.DrawFn) -> Sparse:
    n = draw(st.integers(1, 70))
    support = sorted(draw(st.sets(st.integers(0, n - 1), min_size=1)))
    values = draw(st.lists(st.sampled_from([0.0, -0.0, 1.5, -3e300]), min_size=len(support), max_size=len(support)))
    return Sparse(n, np.array(support), np.array(values))


@given(st.one_of(quantized(), levels(), signs, sparse()))
def test_a_payload_comes_back_bit_for_bit_and_was_measured_right(payload: Payload) -> None:
    data = encode_payload(payload, WIRE)
    back = decode_payload(data, form_of(payload), payload.n, WIRE.draw)
    assert same(back, payload)
    assert expand(back).tobytes() == expand(payload).tobytes()
    assert measure_payload(payload, WIRE).total == len(data)


@given(quantized())
def test_quantized_bytes_are_those_of_the_layout(payload: Quantized) -> None:
    assert encode_quantized(payload) == slow_quantized(payload.bits, payload.scale, payload.levels.tolist())


@given(levels())
def test_level_bytes_are_those_of_the_layout(payload: Levels) -> None:
    assert encode_levels(payload) == slow_levels(payload.first, payload.growth, payload.levels.tolist())


@given(signs)
def test_sign_bytes_are_those_of_the_layout(payload: Signs) -> None:
    assert encode_signs(payload) == slow_signs(payload.scale, payload.negative.tolist())


@given(sparse(), st.sampled_from(SupportCoding))
def test_a_sparse_support_is_spelt_out_in_its_smallest_coding_whatever_the_run_has_chosen(
    payload: Sparse, chosen: SupportCoding
) -> None:
    n, s = payload.n, payload.support.size
    codings = [SupportCoding.ALL] if s == n else [SupportCoding.GAPS, SupportCoding.BITMAP]
    candidates = [slow_bytes(payload, coding) for coding in codings]
    smallest = min(candidates, key=len)
    assert encode_payload(payload, Wire(WIRE.draw, chosen)) == smallest
    for candidate in candidates:
        if candidate != smallest:
            with refusing(Refusal.NOT_CANONICAL):
                decode_payload(candidate, "sparse", n, WIRE.draw)


def test_bytes_written_down_once() -> None:
    one = "000000000000f03f"
    assert encode_signs(Signs(1.0, np.array([True, False, False, True]))).hex() == "01" + one + "09"
    # levels + 3 = 0, 6, 4: planes 000, 010, 011
    assert encode_quantized(Quantized(3, 1.0, as_levels([-3, 3, 1]))).hex() == "01" + "03" + one + "9001"
    # |level| + 1 = 1, 2, 4: unary 1, 01, 001; bit 0 of 2 and 4, bit 1 of 4; signs of the last two
    assert encode_levels(Levels(1.0, 1.0, as_levels([0, -1, 3]))).hex() == "01" + one + one + "2502"


def test_what_a_payload_weighs_is_what_theory_says() -> None:
    n = 1003
    x = normals(Key(1, Purpose.FEATURES), n)
    assert measure_payload(Signs(1.0, x < 0), WIRE) == Sizes(values=8 + 126, framing=1)
    for bits in (2, 5, 16):
        sizes = measure_payload(Quantized(bits, 1.0, np.zeros(n, dtype=np.int64)), WIRE)
        assert sizes == Sizes(values=8 + -(-bits * n // 8), framing=2)
    key = Key(3, Purpose.COMPRESSION, 2, 0)
    payload = AdaptiveQuantizer(eta=0.3, omega=0.2).compress(x, key)
    bits = sum(2 * int(log2(abs(level) + 1)) + 1 + (level != 0) for level in payload.levels.tolist())
    assert measure_payload(payload, WIRE) == Sizes(values=16 + -(-bits // 8), framing=1)
    assert bits / n < 4  # most levels are 0, ±1 or ±2
    assert measure_payload(Levels(1.0, 1.5, np.zeros(n, dtype=np.int64)), WIRE) == Sizes(values=16 + 126, framing=1)
    top = TopK(share=0.1).compress(x, key)
    sizes = measure_payload(top, WIRE)
    assert (sizes.values, sizes.stars, sizes.framing) == (800, 0, 2)
    assert sizes.support <= 126 / 2  # the entropy of 100 out of 1003 is 463 bits


def test_sparse_values_travel_as_float32_if_the_run_says_so() -> None:
    payload = Sparse(9, np.array([2, 5]), np.array([0.5, -2.0]))
    data = encode_payload(payload, Wire(WIRE.draw, values=ValueType.FLOAT32))
    assert same(decode_payload(data, "sparse", 9, WIRE.draw), payload)
    assert len(data) == measure_payload(payload, Wire(WIRE.draw, values=ValueType.FLOAT32)).total == 2 + 2 + 8


def f8(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


NAN, INF = float("nan"), float("inf")
REFUSED = {
    "signs, nothing": ("signs", b"", Refusal.BAD_LENGTH),
    "signs, another version": ("signs", b"\x02" + f8(1.0) + b"\x00", Refusal.UNKNOWN_VERSION),
    "signs, a flag that means nothing": ("signs", b"\x09" + f8(1.0) + b"\x00", Refusal.BAD_PADDING),
    "signs, no scale": ("signs", b"\x01" + b"\x00" * 7, Refusal.BAD_LENGTH),
    "signs, too short": ("signs", b"\x01" + f8(1.0), Refusal.BAD_LENGTH),
    "signs, too long": ("signs", b"\x01" + f8(1.0) + b"\x00\x00", Refusal.BAD_LENGTH),
    "signs, a bit after the end": ("signs", b"\x01" + f8(1.0) + b"\x08", Refusal.BAD_PADDING),
    "signs, a negative scale": ("signs", b"\x01" + f8(-1.0) + b"\x00", Refusal.NOT_FINITE),
    "signs, minus zero": ("signs", b"\x01" + f8(-0.0) + b"\x00", Refusal.NOT_FINITE),
    "signs, nan": ("signs", b"\x01" + f8(NAN) + b"\x00", Refusal.NOT_FINITE),
    "quantized, one bit": ("quantized", b"\x01\x01" + f8(1.0) + b"\x00", Refusal.BAD_SIZE),
    "quantized, 17 bits": ("quantized", b"\x01\x11" + f8(1.0) + bytes(7), Refusal.BAD_SIZE),
    "quantized, a long varint": ("quantized", b"\x01\x82\x00" + f8(1.0) + b"\x00", Refusal.BAD_VARINT),
    "quantized, infinite": ("quantized", b"\x01\x02" + f8(INF) + b"\x00", Refusal.NOT_FINITE),
    "quantized, too short": ("quantized", b"\x01\x03" + f8(1.0) + b"\x00", Refusal.BAD_LENGTH),
    "quantized, too long": ("quantized", b"\x01\x02" + f8(1.0) + b"\x00\x00", Refusal.BAD_LENGTH),
    "quantized, a bit after the end": ("quantized", b"\x01\x02" + f8(1.0) + b"\x40", Refusal.BAD_PADDING),
    "quantized, no level": ("quantized", b"\x01\x02" + f8(1.0) + slow_pack("100100"), Refusal.NOT_CANONICAL),
    "levels, too short": ("levels", b"\x01" + f8(1.0, 1.0), Refusal.BAD_LENGTH),
    "levels, unary cut short": ("levels", b"\x01" + f8(1.0, 1.0) + b"\x03", Refusal.BAD_LENGTH),
    "levels, no signs": ("levels", b"\x01" + f8(1.0, 1.0) + slow_pack("01010101"), Refusal.BAD_LENGTH),
    "levels, too long": ("levels", b"\x01" + f8(1.0, 1.0) + slow_pack("111") + b"\x00", Refusal.BAD_LENGTH),
    "levels, a bit after the end": ("levels", b"\x01" + f8(1.0, 1.0) + slow_pack("1111"), Refusal.BAD_PADDING),
    "levels, far too high": ("levels", b"\x01" + f8(1.0, 1.0) + slow_pack("11" + "0" * 31 + "1" + "0" * 32),
                             Refusal.NOT_CANONICAL),
    "levels, one too high": ("levels", slow_levels(1.0, 1.0, [0, 0, 2**31 - 1]), Refusal.NOT_CANONICAL),
    "levels, no finite height": ("levels", slow_levels(1.0, 2.0, [0, 0, 2000]), Refusal.NOT_FINITE),
    "levels, shrinking": ("levels", slow_levels(1.0, 0.5, [0, 0, 0]), Refusal.NOT_FINITE),
    "levels, a negative step": ("levels", slow_levels(-1.0, 1.5, [0, 0, 0]), Refusal.NOT_FINITE),
    "sparse, to be drawn": ("sparse", b"\x01\x02" + bytes(4) + f8(1.0, 1.0), Refusal.UNKNOWN_DRAW),
}  # fmt: skip


@pytest.mark.parametrize(("form", "data", "code"), REFUSED.values(), ids=REFUSED)
def test_each_reason_to_refuse_a_vector_of_three(form: str, data: bytes, code: Refusal) -> None:
    with refusing(code):
        decode_payload(data, form, 3, WIRE.draw)


@pytest.mark.parametrize(
    "payload",
    [
        Signs(-1.0, np.array([True])),
        Signs(NAN, np.array([True])),
        Quantized(2, 1.0, as_levels([2])),
        Quantized(17, 1.0, as_levels([2])),
        Levels(1.0, 0.5, as_levels([1])),
        Levels(1.0, 1.0, as_levels([2**31 - 1])),
        Levels(1.0, 2.0, as_levels([1100])),
    ],
)
def test_what_the_receiver_would_refuse_is_not_sent(payload: Payload) -> None:
    with pytest.raises(ValueError, match=r"not a quantized vector|levels to be sent|cannot be sent"):
        encode_payload(payload, WIRE)


def test_a_sparse_value_that_is_not_finite_is_not_sent() -> None:
    with pytest.raises(NotFinite, match="Coordinate 5 is inf"):
        encode_payload(Sparse(9, np.array([2, 5]), np.array([0.5, INF])), WIRE)


def test_no_other_form_is_known() -> None:
    with pytest.raises(ValueError, match="'pickle'"):
        decode_payload(b"", "pickle", 3, WIRE.draw)
