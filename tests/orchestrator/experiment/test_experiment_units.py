"""Quantities with units, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment.units import DURATION, RATE, percentages_as_numbers, show_share


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20ms", 0.02), ("1.5s", 1.5), ("2min", 120.0), ("0ms", 0.0), ("7us", 7e-6), ("1h", 3600.0), ("1e-3s", 0.001)],
)
def test_durations_become_the_nearest_float_of_seconds(text: str, seconds: float) -> None:
    assert DURATION.parse(text) == seconds


@pytest.mark.parametrize(
    ("text", "bps"), [("10mbit", 1e7), ("500kbit", 5e5), ("1gbit", 1e9), ("8bit", 8.0), ("0.1mbit", 1e5)]
)
def test_rates_are_decimal_bits_per_second(text: str, bps: float) -> None:
    assert RATE.parse(text) == bps


@pytest.mark.parametrize("text", ["", "ms", "20", "-5ms", "20 ms", "20MS", "1e9999s", "nan s", "infs", "20mss", "１ms"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        DURATION.parse(text)


@pytest.mark.parametrize(("value", "text"), [(0.02, "20ms"), (1.5, "1.5s"), (7200.0, "2h"), (0.0, "0s"), (30.0, "30s")])
def test_a_duration_is_shown_in_its_shortest_unit(value: float, text: str) -> None:
    assert DURATION.show(value) == text


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_what_is_shown_reads_back_to_the_same_float(value: float) -> None:
    assert DURATION.parse(DURATION.show(value)) == value
    assert RATE.parse(RATE.show(value)) == value


@given(st.floats(min_value=0, max_value=1))
def test_a_share_is_shown_as_a_percentage_only_if_that_is_exact(value: float) -> None:
    assert percentages_as_numbers(show_share(value)) == value


def test_percentages_are_numbers_wherever_they_stand() -> None:
    assert show_share(0.2) == "20%"
    assert percentages_as_numbers({"a": {"b": "20%"}, "c": "x%", "d": 5}) == {"a": {"b": 0.2}, "c": "x%", "d": 5}
