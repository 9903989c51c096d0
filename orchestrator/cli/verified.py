"""What verification found, in the terminal."""

from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter

from rich.console import Console
from rich.markup import escape

from orchestrator.cli.tables import print_table, table_of
from orchestrator.report.link_units import amount, error, rank
from orchestrator.results.network_summary import VerifiedLink, VerifiedLinks

_FILE_WIDTH = 160
_COLOURS = {"ok": "green", "miss": "red", "unverifiable here": "yellow"}


def say_verified(verified: VerifiedLinks | None, console: Console) -> None:
    """One line per property and mechanism: how many links, the worst error, the verdicts."""
    if verified is None:
        return
    groups = defaultdict(list)
    for row in verified.findings:
        groups[row.property, row.mechanism].append(row)
    for (what, mechanism), rows in groups.items():
        errors = [
            (abs(row.measured - row.asked), error(what, row.asked, row.measured))
            for row in rows
            if row.measured is not None and row.asked is not None
        ]
        off = f"worst error {max(errors, key=itemgetter(0))[1]}" if errors else "none measured"
        counts = [
            f"[{colour}]{times} {verdict}[/]"
            for verdict, colour in _COLOURS.items()
            if (times := sum(row.verdict == verdict for row in rows))
        ]
        console.print(
            f"{what} by {mechanism}, {len(rows)} of {verified.coverage[what][1]} links: {', '.join(counts)}; {off}",
            soft_wrap=True,
        )


def verification_table(verified: VerifiedLinks, console: Console, most: int) -> None:
    """Row by row, what is not as asked first; at most so many."""
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    rows = sorted(verified.findings, key=lambda row: rank(row.verdict))
    wrapping = ("mechanism", "verdict", "how")
    table = table_of(("link", "property", "asked", "measured", "error", *wrapping), wraps=wrapping)
    for row in rows[:most]:
        table.add_row(*_cells(row))
    print_table(table, console)
    if len(rows) > most:
        console.print(f"and {len(rows) - most} more rows: --all shows them")


def _cells(row: VerifiedLink) -> Sequence[str]:
    what, asked, measured = row.property, row.asked or 0.0, row.measured
    span = (
        f" ({amount(what, row.low)} to {amount(what, row.high)})"
        if row.low is not None and row.high is not None
        else ""
    )
    return (
        f"{row.sender}→{row.receiver}",
        what,
        amount(what, asked),
        "–" if measured is None else amount(what, measured) + span,
        "–" if measured is None else error(what, asked, measured),
        row.mechanism,
        f"[{_COLOURS[row.verdict]}]{row.verdict}[/]",
        escape(row.how),
    )
