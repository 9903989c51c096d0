"""What stays on one line: words worked out by hand, marked with brackets."""

import re

import pytest

from orchestrator.report.unbroken import LONG, kept, prose, whole


def marked(html: str) -> str:
    return re.sub(r'<span class="whole">(.*?)</span>', r"[\1]", html)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("728 KiB of payload, (12.5 ms) each", "[728 KiB] of payload, [(12.5 ms)] each"),
        ("1\u202f205 messages", "1\u202f205 messages"),
        ("1\u202f205 ms, e.g. 4e-17", "[1\u202f205 ms,] e.g. [4e-17]"),
        ("own (88.8 … 92.3\u202f%); rest", "own [(88.8 … 92.3\u202f%);] rest"),
        ("by D-PSGD, as-published", "by [D-PSGD,] [as-published]"),
        ("Optimum f* = 0.1333: by hand", "Optimum [f* = 0.1333:] by hand"),
        ("5 minutes", "5 minutes"),
        ("a < b & 3 %", "a &lt; b &amp; [3 %]"),
    ],
)
def test_numbers_with_units_ranges_equations_and_words_stay_whole(text: str, shown: str) -> None:
    assert marked(prose(text)) == shown


def test_what_is_longer_than_a_telephone_may_break_in_prose_but_not_in_a_cell() -> None:
    word = "a-" * LONG
    assert prose(word) == word
    assert whole(word) == kept(word)


def test_a_range_in_a_cell_breaks_between_its_ends() -> None:
    assert marked(whole("1.5 KiB … 3 KiB")) == "[1.5 KiB] […] [3 KiB]"
