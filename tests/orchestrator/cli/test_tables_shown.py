"""Tables on a narrow terminal: no number and no word is cut in two."""

import pytest
from rich.table import Table

from orchestrator.cli.tables import print_table
from orchestrator.cli.verified import verification_table
from orchestrator.results.network_summary import VerifiedLink, VerifiedLinks
from tests.orchestrator.cli.builders import terminal


@pytest.mark.parametrize("width", [10, 30, 200])
def test_a_table_is_never_narrower_than_its_longest_words(width: int) -> None:
    console, file = terminal(width, is_real=True)
    table = Table(box=None)
    table.add_column("name")
    table.add_column("sent", no_wrap=True)
    table.add_row("a-name-of-27-characters-or-so and more words", "1\u202f234\u202f567.5 KiB")
    print_table(table, console)
    shown = file.getvalue()
    assert "a-name-of-27-characters-or-so" in shown
    assert "1\u202f234\u202f567.5 KiB" in shown
    assert "…" not in shown


def test_what_was_measured_of_links_keeps_its_numbers_whole() -> None:
    console, file = terminal(40, is_real=True)
    how = "the median of twenty round trips, halved"
    row = VerifiedLink(0, 1, "delay", 0.02, 0.0215, mechanism="in-process", verdict="ok", how=how)
    verification_table(VerifiedLinks(findings=[row]), console, 5)
    assert all(words in file.getvalue() for words in ("20 ms", "21.5 ms", "+1.5 ms"))
