"""Dense vectors survive the wire bit for bit, and nothing else is taken for one."""

import struct

import numpy as np
import pytest

from pame.codec import NotFinite, Refusal, Refused, decode_dense, encode_dense
from pame.exchange import ValueType
from tests.pame.codec.oracle import refusing

ONE = struct.pack("<d", 1.0)


@pytest.mark.parametrize("value_type", ValueType)
def test_a_vector_comes_back_bit_for_bit(value_type: ValueType) -> None:
    vector = np.array([0.0, -0.0, 1.5, -(2.0**-149), 2.0**127])
    assert decode_dense(encode_dense(vector, value_type), 5).tobytes() == vector.tobytes()


def test_the_layout_is_a_flags_byte_and_the_values() -> None:
    assert encode_dense(np.array([1.0, 0.0])).hex() == "01" + "000000000000f03f" + "0000000000000000"
    assert encode_dense(np.array([1.0, 0.0]), ValueType.FLOAT32).hex() == "09" + "0000803f" + "00000000"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", Refusal.BAD_LENGTH),
        (b"\x01" + ONE, Refusal.BAD_LENGTH),
        (b"\x01" + ONE * 3, Refusal.BAD_LENGTH),
        (b"\x02" + ONE * 2, Refusal.UNKNOWN_VERSION),
        (b"\x11" + ONE * 2, Refusal.BAD_PADDING),
        (b"\x01" + ONE + struct.pack("<d", float("nan")), Refusal.NOT_FINITE),
        (b"\x09" + struct.pack("<ff", 1.0, float("inf")), Refusal.NOT_FINITE),
        (b"\x09" + bytes.fromhex("0000803f 010080 7f"), Refusal.NOT_FINITE),  # a signalling NaN
    ],
)
def test_each_reason_to_refuse_a_vector_of_two(data: bytes, code: Refusal) -> None:
    with refusing(code):
        decode_dense(data, 2)


def test_a_vector_that_is_not_finite_is_not_sent() -> None:
    with pytest.raises(NotFinite, match="Coordinate 1 is inf"):
        encode_dense(np.array([1.0, np.inf]))


def test_fuzzed_bytes_give_a_vector_or_a_refusal() -> None:
    valid = encode_dense(np.linspace(-1.0, 1.0, 6))
    accepted = 0
    for bit in range(8 * len(valid)):
        data = bytearray(valid)
        data[bit // 8] ^= 1 << bit % 8
        try:
            vector = decode_dense(bytes(data), 6)
        except Refused:
            continue
        accepted += 1
        assert np.isfinite(vector).all()
        assert encode_dense(vector) == bytes(data)
    assert accepted > 300
