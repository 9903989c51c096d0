"""Patience: fixed, or learnt from the waits of messages that arrived."""

import pytest

from pame.patience import AdaptivePatience, FixedPatience


def test_a_fixed_patience_never_changes() -> None:
    patience = FixedPatience(2.5)
    patience.arrived_after(100.0)
    assert patience.seconds() == 2.5


ADAPTIVE: dict[str, tuple[list[float], float]] = {
    "the ceiling until eight waits are known: none": ([], 30.0),
    "the ceiling until eight waits are known: seven": ([1.0] * 7, 30.0),
    "the median of eight": ([1.0] * 8, 1.0),
    # the median of 1..9 is 5, the distances from it 4,3,2,1,0,1,2,3,4 have the median 2
    "the median plus four spreads": ([9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0], 5.0 + 4.0 * 1.4826 * 2.0),
    # the median is 1.5, every distance 0.5
    "the middle of the two of an even number": ([1, 1, 1, 1, 2, 2, 2, 2], 1.5 + 4.0 * 1.4826 * 0.5),
    "hardly changed by one enormous wait": ([1.0] * 8 + [1e6], 1.0),
    "never below a fifth of a second": ([0.01] * 20, 0.2),
    "never above thirty seconds": ([100.0] * 20, 30.0),
    # zeros and twos: the median is 1, every distance 1
    "a negative wait as none": ([-1.0] * 8 + [2.0] * 8, 1.0 + 4.0 * 1.4826),
    "of the last sixty-four only": ([20.0] * 64 + [1.0] * 63, 1.0),
    "of the last sixty-four, half of them less one": ([20.0] * 64 + [1.0] * 31, 20.0),
    "of the last sixty-four, half of them and one": ([20.0] * 64 + [1.0] * 33, 1.0),
}


@pytest.mark.parametrize(("waits", "expected"), ADAPTIVE.values(), ids=ADAPTIVE)
def test_adaptive_patience_is(waits: list[float], expected: float) -> None:
    patience = AdaptivePatience()
    for wait in waits:
        patience.arrived_after(wait)
    assert patience.seconds() == expected
