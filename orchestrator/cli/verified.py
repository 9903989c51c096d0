"""What verification found, in the terminal."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from orchestrator.cli.tables import print_table
from orchestrator.report.link_units import amount, error, rank

_FILE_WIDTH = 160
_COLOURS = {"ok": "green", "miss": "red", "unverifiable here": "yellow"}
_Row = Mapping[str, Any]


def say_verified(verified: Mapping[str, Any] | None, console: Console) -> None:
    """One line per property and mechanism: how many links, the worst error, the verdicts."""
    if not verified:
        return
    for (what, mechanism), rows in _groups(verified["findings"]).items():
        asked = verified["coverage"][what][1]
        measured = [row for row in rows if row["measured"] is not None]
        worst = max(measured, key=lambda row: abs(row["measured"] - row["asked"]), default=None)
        off = f"worst error {error(what, worst['asked'], worst['measured'])}" if worst else "none measured"
        counts = [
            f"[{colour}]{sum(row['verdict'] == verdict for row in rows)} {verdict}[/]"
            for verdict, colour in _COLOURS.items()
            if any(row["verdict"] == verdict for row in rows)
        ]
        console.print(
            f"{what} by {mechanism}, {len(rows)} of {asked} links: {', '.join(counts)}; {off}", soft_wrap=True
        )


def verification_table(verified: Mapping[str, Any], console: Console, most: int) -> None:
    """Row by row, what is not as asked first; at most so many."""
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    rows = sorted(verified["findings"], key=lambda row: rank(row["verdict"]))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("link", "property", "asked", "measured", "error", "mechanism", "verdict", "how"):
        table.add_column(name, no_wrap=name not in ("mechanism", "verdict", "how"))
    for row in rows[:most]:
        table.add_row(*_cells(row))
    print_table(table, console)
    if len(rows) > most:
        console.print(f"and {len(rows) - most} more rows: --all shows them")


def _cells(row: _Row) -> Sequence[str]:
    what, asked, measured = row["property"], row["asked"], row["measured"]
    span = f" ({amount(what, row['low'])} to {amount(what, row['high'])})" if row["low"] is not None else ""
    return (
        f"{row['sender']}→{row['receiver']}",
        what,
        amount(what, asked),
        "–" if measured is None else amount(what, measured) + span,
        "–" if measured is None else error(what, asked, measured),
        row["mechanism"],
        f"[{_COLOURS[row['verdict']]}]{row['verdict']}[/]",
        escape(row["how"]),
    )


def _groups(rows: Sequence[_Row]) -> dict[tuple[str, str], list[_Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row["property"], row["mechanism"]].append(row)
    return dict(groups)
