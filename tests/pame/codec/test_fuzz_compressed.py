"""96,000 generated and mutated byte strings end in a payload or in `Refused`, within a bound on memory."""

from functools import cache

import numpy as np
import pytest

from pame.codec import Draw, Refused, Wire, decode_payload, encode_payload
from pame.compressors import Levels, Payload, Quantized, Signs, Sparse, expand, form_of
from pame.exchange import ValueType
from tests.pame.codec.oracle import Dice, peak

DRAW = Draw(seed=9, sender=1, iteration=4)
WIRE = Wire(DRAW)
DIMENSIONS = (1, 2, 7, 8, 33, 100)
FORMS = ("sparse", "quantized", "levels", "signs")
PER_CASE = 4000
LARGEST = 2**32 - 1
SMALL = 64 * 1024


@cache
def valid(form: str, n: int, which: int) -> bytes:
    """One of 60 encoded payloads."""
    dice = Dice(which, 1 << 10)
    scale = dice.below(5) / 4
    payload: Payload
    if form == "sparse":
        support = np.array(sorted({dice.below(n) for _ in range(1 + dice.below(n))}))
        payload = Sparse(n, support, np.array([dice.below(3) / 2 for _ in support]))
    elif form == "quantized":
        bits = 2 + dice.below(15)
        levels = [dice.below(2**bits - 1) - 2 ** (bits - 1) + 1 for _ in range(n)]
        payload = Quantized(bits, scale, np.array(levels))
    elif form == "levels":
        most = (1, 3, 9, 300)[dice.below(4)]
        payload = Levels(scale, 1.0 + scale, np.array([dice.below(2 * most + 1) - most for _ in range(n)]))
    else:
        payload = Signs(scale, np.array([dice.below(2) == 1 for _ in range(n)]))
    return encode_payload(payload, WIRE)


def mutated(dice: Dice, form: str, n: int) -> bytes:
    """Flipped, cut, extended, spliced, of another dimension, or noise behind a good beginning."""
    data = bytearray(valid(form, n, dice.below(60)))
    kind = dice.below(6)
    if kind == 0:
        for _ in range(1 + dice.below(3)):
            data[dice.below(len(data))] ^= 1 << dice.below(8)
    elif kind == 1:
        del data[dice.below(len(data)) :]
    elif kind == 2:
        at = dice.below(len(data) + 1)
        data[at:at] = dice.bytes(1 + dice.below(4))
    elif kind == 3:
        other = valid(form, n, dice.below(60))
        data[dice.below(len(data)) :] = other[dice.below(len(other)) :]
    elif kind == 4:
        data[:] = valid(form, max(1, n + dice.below(9) - 4), dice.below(60))
    else:
        start = min(len(data), (2, 10, 17)[dice.below(3)])
        data[start:] = dice.bytes(len(data) - start)
    return bytes(data)


@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("form", FORMS)
def test_any_bytes_give_a_sound_payload_whose_only_bytes_they_are_or_a_refusal(form: str, case: int) -> None:
    dice = Dice(1000 * FORMS.index(form) + case, 1 << 18)
    accepted = 0
    for _ in range(PER_CASE):
        n = DIMENSIONS[dice.below(len(DIMENSIONS))]
        data = dice.bytes(dice.below(30)) if case == 0 else mutated(dice, form, n)
        try:
            payload = decode_payload(data, form, n, DRAW)
        except Refused:
            continue
        accepted += 1
        whole = expand(payload)
        assert whole.shape == (n,)
        assert np.isfinite(whole).all()
        assert not isinstance(payload, np.ndarray)
        assert form_of(payload) == form
        values = ValueType(data[0] >> 5 & 1)  # of a sparse vector: the run's choice
        assert encode_payload(payload, Wire(DRAW, values=values)) == data
    assert accepted > 50 or case == 0


def peak_of(data: bytes, form: str, n: int) -> int:
    return peak(lambda: decode_payload(data, form, n, DRAW))


@pytest.mark.parametrize("form", FORMS)
def test_a_few_bytes_allocate_little_even_for_the_largest_model(form: str) -> None:
    for which in range(60):
        assert peak_of(valid(form, 33, which), form, LARGEST) <= SMALL


@pytest.mark.parametrize("n", [1000, 100_000])
def test_the_worst_bytes_stay_within_64_times_model_and_data(n: int) -> None:
    head = encode_payload(Levels(1.0, 1.0, np.zeros(1, dtype=np.int64)), WIRE)[:-1]
    wide = np.full(n, 2**31 - 2)
    hostile = {
        "all ones": head + b"\xff" * (8 * n),
        "all ones, of the right length": head + b"\xff" * (n // 8),
        "all zeros": head + bytes(8 * n),
        "alternating": head + b"\xaa" * (n // 2),
        "all of the widest": encode_payload(Levels(1.0, 1.0, wide), WIRE),
    }
    for name, data in hostile.items():
        assert peak_of(data, "levels", n) <= 64 * (n + len(data)) + SMALL, name
    finest = encode_payload(Quantized(16, 1.0, np.full(n, 32767)), WIRE)
    assert peak_of(finest, "quantized", n) <= 64 * (n + len(finest)) + SMALL
    bits = encode_payload(Signs(1.0, np.ones(n, dtype=np.bool_)), WIRE)
    assert peak_of(bits, "signs", n) <= 64 * (n + len(bits)) + SMALL
