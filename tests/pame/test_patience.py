"""Patience: fixed, or learnt from the waits of messages that arrived."""

import pytest

from pame.patience import AdaptivePatience, FixedPatience


def adaptive(*waits: float) -> AdaptivePatience:
    patience = AdaptivePatience()
    for wait in waits:
        patience.arrived_after(wait)
    return patience


def test_a_fixed_patience_never_changes() -> None:
    patience = FixedPatience(2.5)
    patience.arrived_after(100.0)
    assert patience.seconds() == 2.5


def test_adaptive_waits_for_the_ceiling_until_eight_waits_are_known() -> None:
    assert adaptive().seconds() == 30.0
    assert adaptive(*[1.0] * 7).seconds() == 30.0
    assert adaptive(*[1.0] * 8).seconds() == 1.0


def test_adaptive_is_the_median_plus_four_spreads() -> None:
    """Waits 1..9: the median is 5, the distances from it 4,3,2,1,0,1,2,3,4 have the median 2."""
    patience = adaptive(9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0)
    assert patience.seconds() == pytest.approx(5.0 + 4.0 * 1.4826 * 2.0)


def test_adaptive_with_an_even_number_of_waits_takes_the_middle_of_the_two() -> None:
    """Waits 1,1,1,1,2,2,2,2: the median is 1.5, every distance 0.5."""
    assert adaptive(1, 1, 1, 1, 2, 2, 2, 2).seconds() == pytest.approx(1.5 + 4.0 * 1.4826 * 0.5)


def test_one_enormous_wait_hardly_matters() -> None:
    assert adaptive(*[1.0] * 8, 1e6).seconds() == 1.0


def test_adaptive_never_goes_below_a_fifth_of_a_second() -> None:
    assert adaptive(*[0.01] * 20).seconds() == 0.2


def test_adaptive_never_exceeds_thirty_seconds() -> None:
    assert adaptive(*[100.0] * 20).seconds() == 30.0


def test_a_negative_wait_counts_as_none() -> None:
    """Eight waits of -1 and eight of 2 are zeros and twos: the median is 1, every distance 1."""
    assert adaptive(*[-1.0] * 8, *[2.0] * 8).seconds() == pytest.approx(1.0 + 4.0 * 1.4826)


def test_only_the_last_sixty_four_waits_count() -> None:
    patience = adaptive(*[20.0] * 64, *[1.0] * 63)
    assert patience.seconds() == 1.0
    assert adaptive(*[20.0] * 64, *[1.0] * 31).seconds() == 20.0
    assert adaptive(*[20.0] * 64, *[1.0] * 33).seconds() == 1.0
