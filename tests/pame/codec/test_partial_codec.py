"""Partial messages survive the wire bit for bit, in every coding, at the smallest size."""

from math import comb, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.codec import Draw, NotFinite, Sizes, SupportCoding, decode, encode, measure, sizes
from pame.exchange import PartialMessage, ValueType, reveal
from pame.sampling import support
from tests.pame.codec.oracle import Dice, message_of, same, slow_bytes

DRAW = Draw(seed=5, sender=6, iteration=7)
SHAPES = [
    (1, 1), (2, 1), (8, 3), (9, 9), (33, 4), (64, 63), (200, 200),
    (300, 1), (300, 30), (605, 25), (600, 120), (700, 350),
]  # fmt: skip
EXTREMES = [-0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 1.0]


def star_patterns(s: int) -> dict[str, list[bool]]:
    dice = Dice(s)
    return {
        "none": [False] * s,
        "one": [i == s // 2 for i in range(s)],
        "clustered": [s // 3 <= i < 2 * s // 3 for i in range(s)],
        "half": [bool(dice.below(2)) for _ in range(s)],
        "few": [dice.below(16) == 0 for _ in range(s)],
        "all but one": [i != 0 for i in range(s)],
        "all": [True] * s,
    }


def sample(n: int, s: int, stars: list[bool]) -> PartialMessage:
    """A message on the support of `DRAW`, whose values are float32 numbers, extremes of it among them."""
    numbers = [-0.0, 2.0**-149, -(2.0**127), 1.5, -3.0, 0.1]
    values = np.array([0.0 if star else numbers[i % 6] for i, star in enumerate(stars)], dtype=np.float32)
    return PartialMessage(n, support(DRAW.seed, DRAW.sender, DRAW.iteration, n, s), values.astype(np.float64))


def codings(message: PartialMessage) -> list[SupportCoding]:
    return [c for c in SupportCoding if c is not SupportCoding.ALL or message.support.size == message.n]


@pytest.mark.parametrize(("n", "s"), SHAPES)
@pytest.mark.parametrize("value_type", ValueType)
def test_every_coding_and_star_pattern_gives_the_bytes_of_the_slow_encoder_and_comes_back(
    n: int, s: int, value_type: ValueType
) -> None:
    for stars in star_patterns(s).values():
        message = sample(n, s, stars)
        for coding in codings(message):
            data = encode(message, coding=coding, values=value_type, draw=DRAW)
            assert data == slow_bytes(message, coding, value_type)
            assert same(decode(data, n, DRAW), message)
            assert same(decode(memoryview(data), n, DRAW), message)


@pytest.mark.parametrize(("n", "s"), SHAPES)
@pytest.mark.parametrize("draw", [None, DRAW])
def test_auto_is_as_small_as_the_smallest_fixed_coding(n: int, s: int, draw: Draw | None) -> None:
    message = sample(n, s, star_patterns(s)["few"])
    known = [c for c in codings(message) if draw is not None or c is not SupportCoding.SEED]
    assert len(encode(message, draw=draw)) == min(len(slow_bytes(message, coding)) for coding in known)


@pytest.mark.parametrize(("n", "s"), SHAPES)
@pytest.mark.parametrize("value_type", ValueType)
def test_sizes_and_measure_agree_and_add_up_to_the_length(n: int, s: int, value_type: ValueType) -> None:
    for stars in star_patterns(s).values():
        message = sample(n, s, stars)
        for coding in [*codings(message), None]:
            data = encode(message, coding=coding, values=value_type, draw=DRAW)
            counted = sizes(data, n)
            assert counted == measure(message, coding=coding, values=value_type, draw=DRAW)
            assert counted.total == len(data)
            assert counted.values == value_type.dtype.itemsize * stars.count(False)


def test_sizes_of_a_message_counted_by_hand() -> None:
    # 300 of 1000 coordinates: 2 bytes of varint; 125 bytes of bitmap; 1 star: its count, and 5 + 6 + 3 bits
    message = message_of(1000, range(300), [1.0] * 150 + [0.0] + [1.0] * 149)
    assert sizes(encode(message, coding=SupportCoding.BITMAP), 1000) == Sizes(
        values=299 * 8, support=125, stars=3, framing=3
    )


def test_a_support_of_a_hundred_in_ten_thousand_takes_two_percent_more_than_its_entropy_at_most() -> None:
    # of one message: mean 1.0178, deviation 0.0049 (20,000 draws); a mean of 200 is above 1.02 with chance < 1e-9
    n, s = 10_000, 100
    supports = [Draw(seed=1, sender=2, iteration=k).support(n, s) for k in range(200)]
    taken = [measure(PartialMessage(n, chosen, np.ones(s)), coding=SupportCoding.GAPS).support for chosen in supports]
    assert 8 * sum(taken) / len(taken) <= 1.02 * log2(comb(n, s))


finite = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, *EXTREMES])


@given(values=st.lists(finite, min_size=1, max_size=40), data=st.data())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_every_finite_double_comes_back_bit_for_bit(values: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(len(values), 4 * len(values)))
    chosen = data.draw(st.sets(st.integers(0, n - 1), min_size=len(values), max_size=len(values)))
    message = message_of(n, sorted(chosen), values)
    for coding in (SupportCoding.GAPS, SupportCoding.BITMAP, None):
        assert same(decode(encode(message, coding=coding), n), message)


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_finite_float32_comes_back_bit_for_bit(values: list[float]) -> None:
    message = message_of(len(values), range(len(values)), values)
    assert same(decode(encode(message, values=ValueType.FLOAT32), message.n), message)


def test_a_negative_zero_is_a_value_and_a_positive_zero_is_a_star() -> None:
    data = encode(message_of(4, [1, 2], [-0.0, 0.0]), coding=SupportCoding.BITMAP)
    assert sizes(data, 4).values == 8
    assert data.endswith(bytes.fromhex("0000000000000080"))


def test_the_third_message_of_the_worked_example_takes_twelve_bytes() -> None:
    # flags 0b11_0_10_001 (star bitmap, float64, support bitmap, version 1), s = 2, coordinates 2 and 3, star 0, 6.0
    message = reveal(np.array([3.0, 6.0, 0.0, 6.0]), np.array([2, 3]))
    assert str(message) == "[·, ·, ★, 6]"
    assert encode(message).hex(" ") == "d1 02 0c 01 00 00 00 00 00 00 18 40"
    assert str(decode(encode(message), 4)) == "[·, ·, ★, 6]"


@pytest.mark.parametrize("s", [1, 3])
def test_a_dimension_just_below_two_to_the_32_costs_nothing(s: int) -> None:
    n = 2**32 - 1
    message = message_of(n, [n - 1] if s == 1 else [0, 2**31, n - 1], [1.0] * s)
    data = encode(message)
    assert len(data) <= 4 + 13 * s
    assert same(decode(data, n), message)
    assert data == slow_bytes(message, SupportCoding.GAPS)


def test_a_large_message_with_chunked_checksum_comes_back() -> None:
    n, s = 200_000, 40_000
    message = reveal(np.linspace(-1.0, 1.0, n), DRAW.support(n, s))
    data = encode(message, draw=DRAW)
    assert data == slow_bytes(message, SupportCoding.SEED)
    assert same(decode(data, n, DRAW), message)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("value_type", ValueType)
def test_a_value_that_is_not_finite_is_named_by_its_coordinate(bad: float, value_type: ValueType) -> None:
    with pytest.raises(NotFinite, match="Coordinate 17 is ") as caught:
        encode(message_of(20, [3, 17], [1.0, bad]), values=value_type)
    assert caught.value.coordinate == 17


def test_a_value_too_large_for_float32_is_not_finite_there() -> None:
    with pytest.raises(NotFinite, match=r"Coordinate 3 is 1e\+300 \(beyond float32\)"):
        encode(message_of(20, [3, 17], [1e300, 1.0]), values=ValueType.FLOAT32)


def test_large_doubles_whose_squares_overflow_are_sent() -> None:
    message = message_of(2, [0, 1], [1e300, -1e308])
    assert same(decode(encode(message), 2), message)


@pytest.mark.parametrize(
    ("message", "asked", "text"),
    [
        (message_of(3, [], []), {}, "not a message"),
        (message_of(3, [0, 1], [1.0]), {}, "not a message"),
        (message_of(2**32, [0], [1.0]), {}, "not a message"),
        (message_of(3, [0], [1.0]), {"coding": SupportCoding.ALL}, "needs s = n"),
        (message_of(3, [0], [1.0]), {"coding": SupportCoding.SEED}, "needs the draw"),
        (message_of(2, [0], [0.1]), {"values": ValueType.FLOAT32}, "reveal them as float32"),
    ],
)
def test_what_no_caller_may_ask_for(message: PartialMessage, asked: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        encode(message, **asked)
