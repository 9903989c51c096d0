"""The raw words of a key: pinned, and equal to a Philox4x64-10 in plain Python integers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.randomness import Key, Purpose, uniforms, words
from tests.pame.randomness.oracle import philox, slow_words

U64 = st.integers(0, 2**64 - 1)
ONES = 2**64 - 1

GOLDEN = [
    (
        Key(1, Purpose.SUPPORT),
        [0x133D1B1836B49E25, 0xFBD9FF744933275E, 0xF289B1B94EF9E741, 0xB298F47F8B702464, 0xDBD3BC498E3182C4],
    ),
    (
        Key(7, Purpose.CANDIDATES, node=3, iteration=40),
        [0x1574FD17F935F155, 0xCF688FC4A80DBA4D, 0xE3A9EF755E6FF6BD, 0x1108833DE91E4F3F, 0xC86669A271F246A8],
    ),
    (
        Key(ONES, Purpose.MESSAGE_LOSS, node=2**32, iteration=10**9, peer=999),
        [0x6DDBBEDD30C4212C, 0x4D0349035B4A92A3, 0x8A478D99AFC2B28E, 0xFCFCC2760B4285A4, 0x45C2E394B710590B],
    ),
]


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [
        ((0, 0, 0, 0), (0, 0), (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)),
        (
            (ONES, ONES, ONES, ONES),
            (ONES, ONES),
            (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
        ),
        (
            (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
            (0x452821E638D01377, 0xBE5466CF34E90C6C),
            (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
        ),
    ],
    ids=["zeros", "ones", "digits of pi"],
)
def test_the_oracle_gives_the_known_answers_of_the_random123_library(
    counter: tuple[int, int, int, int], key: tuple[int, int], block: tuple[int, ...]
) -> None:
    assert philox(counter, key) == block


@pytest.mark.parametrize(("key", "expected"), GOLDEN, ids=[key.purpose.name for key, _ in GOLDEN])
def test_the_first_words_of_a_key_never_change(key: Key, expected: list[int]) -> None:
    assert words(key, 5).tolist() == expected


@settings(deadline=None, max_examples=150)
@given(U64, st.sampled_from(Purpose), U64, U64, U64, st.integers(0, 11))
def test_words_are_those_of_philox_in_plain_integers(
    seed: int, purpose: Purpose, node: int, iteration: int, peer: int, count: int
) -> None:
    key = Key(seed, purpose, node, iteration, peer)
    drawn = words(key, count)
    assert drawn.dtype == np.uint64
    assert drawn.tolist() == slow_words(key, count)


def test_keys_that_differ_in_any_one_field_or_have_two_exchanged_share_no_word() -> None:
    keys = [
        Key(5, Purpose.SUPPORT, 6, 7, 8),
        Key(6, Purpose.SUPPORT, 6, 7, 8),
        Key(5, Purpose.BATCH, 6, 7, 8),
        Key(5, Purpose.SUPPORT, 7, 7, 8),
        Key(5, Purpose.SUPPORT, 6, 8, 8),
        Key(5, Purpose.SUPPORT, 6, 7, 9),
        Key(5, Purpose.SUPPORT, 7, 6, 8),
        Key(5, Purpose.SUPPORT, 8, 7, 6),
        Key(5, Purpose.SUPPORT, 6, 8, 7),
    ]
    streams = [set(words(key, 64).tolist()) for key in keys]
    assert all(len(stream) == 64 for stream in streams)
    assert all(a.isdisjoint(b) for a, b in combinations(streams, 2))


def test_the_numbers_of_the_purposes_are_part_of_the_format() -> None:
    names = """
        SUPPORT CANDIDATES BATCH PERIOD TRUTH FEATURES LABELS HETEROGENEITY GRAPH MESSAGE_LOSS LINK_JITTER COMPUTE
        STRAGGLERS LINK_DRAW FAULTS VERIFICATION COMPRESSION EPIDEMIC TUNING EDGES PARTITION START AUGMENTATION
        OBJECTIVE_SAMPLE MODULE
    """
    assert {purpose.name: int(purpose) for purpose in Purpose} == {
        name: number for number, name in enumerate(names.split(), start=1)
    }


def test_a_uniform_number_is_the_upper_53_bits_of_its_word() -> None:
    key = Key(3, Purpose.COMPUTE, 1, 2)
    drawn = uniforms(key, 1001)
    assert drawn.tolist() == [(word >> 11) / 2**53 for word in slow_words(key, 1001)]
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0


def test_the_largest_word_gives_a_uniform_number_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    extremes = np.array([0, 2**11 - 1, 2**11, ONES], dtype=np.uint64)
    monkeypatch.setattr("pame.randomness.draws.words", lambda _key, _count: extremes)
    assert uniforms(Key(0, Purpose.COMPUTE), 4).tolist() == [0.0, 0.0, 2.0**-53, 1.0 - 2.0**-53]
