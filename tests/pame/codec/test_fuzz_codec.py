"""120,000 generated and mutated byte strings end in a message or in `Refused`, and in nothing else."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from pame.codec import Draw, Refused, SupportCoding, decode, encode, sizes
from pame.exchange import PartialMessage, ValueType
from tests.pame.codec.oracle import Dice, slow_varint

DRAW = Draw(seed=9, sender=1, iteration=4)
DIMENSIONS = (1, 2, 7, 8, 33, 100, 260)
PER_CASE = 3000


def valid(dice: Dice, n: int) -> bytes:
    """One of 120 encoded messages: any coding, any value type, any share of stars."""
    return valid_message(n, dice.below(120))


@cache
def valid_message(n: int, which: int) -> bytes:
    dice = Dice(which, 1 << 10)
    s = 1 + dice.below(n)
    share = which % 5
    values = np.array([0.0 if dice.below(4) < share else 1.5 + i for i in range(s)])
    coding = list(SupportCoding)[dice.below(4 if s == n else 3)]
    message = PartialMessage(n, DRAW.support(n, s), values)
    return encode(message, coding=coding, values=ValueType(dice.below(2)), draw=DRAW)


def noise(dice: Dice, n: int) -> bytes:
    return dice.bytes(dice.below(20 + n))


def plausible_header(dice: Dice, n: int) -> bytes:
    """Version 1, s near its range, then random bytes of about the right length."""
    s = dice.below(n + 2)
    body = dice.below(16) + [0, n // 8, 4 * s, 8 * s][dice.below(4)]
    small = [dice.below(4) | dice.below(8) << 5] * dice.below(2)  # often a credible Rice parameter
    return bytes([1 | dice.below(32) << 3]) + slow_varint(s) + bytes(small) + dice.bytes(body)


def flipped(dice: Dice, n: int) -> bytes:
    data = bytearray(valid(dice, n))
    for _ in range(1 + dice.below(3)):
        data[dice.below(min(len(data), 40))] ^= 1 << dice.below(8)
    return bytes(data)


def truncated(dice: Dice, n: int) -> bytes:
    data = valid(dice, n)
    return data[: dice.below(len(data))]


def extended(dice: Dice, n: int) -> bytes:
    data = valid(dice, n)
    at = dice.below(len(data) + 1)
    return data[:at] + dice.bytes(1 + dice.below(9)) + data[at:]


def spliced(dice: Dice, n: int) -> bytes:
    first, second = valid(dice, n), valid(dice, n)
    return first[: dice.below(len(first) + 1)] + second[dice.below(len(second)) :]


def other_dimension(dice: Dice, n: int) -> bytes:
    return valid(dice, max(1, n + dice.below(9) - 4))


KINDS = (noise, plausible_header, flipped, truncated, extended, spliced, other_dimension, valid)


@pytest.mark.parametrize("case", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_any_bytes_give_a_sound_canonical_message_or_a_refusal(kind: Callable[[Dice, int], bytes], case: int) -> None:
    dice = Dice(1000 * KINDS.index(kind) + case, 1 << 18)
    accepted = 0
    for _ in range(PER_CASE):
        n = DIMENSIONS[dice.below(len(DIMENSIONS))]
        data = kind(dice, n)
        try:
            message = decode(data, n, DRAW)
        except Refused:
            continue
        accepted += 1
        assert sizes(data, n).total == len(data)
        assert sound(message, n)
        coding, values = SupportCoding(data[0] >> 3 & 3), ValueType(data[0] >> 5 & 1)
        assert encode(message, coding=coding, values=values, draw=DRAW) == data
    assert accepted == PER_CASE or kind is not valid
    assert accepted > 50 or kind not in (flipped, spliced)


def sound(message: PartialMessage, n: int) -> bool:
    support, values = message.support, message.values
    ascending = bool((np.diff(support) > 0).all()) and support[0] >= 0 and support[-1] < n
    typed = support.dtype == np.int64 and values.dtype == np.float64
    return message.n == n and ascending and typed and support.size == values.size and bool(np.isfinite(values).all())
