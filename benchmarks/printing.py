"""What the benchmarks print alike: tables of figures, goals, and a warning of other work on the machine."""

import os
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

_BUSY = 0.5


def table_of(title: str, headings: Iterable[str], words: str | None = None) -> Table:
    """Without rows yet; figures stand at the right, the column `words` at the left."""
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == words else "right")
    return table


def print_goals(console: Console, goals: Iterable[tuple[str, bool]]) -> None:
    """Each with whether it was reached."""
    for text, reached in goals:
        console.print(("[green]reached    [/] " if reached else "[red]not reached[/] ") + text, highlight=False)


def warn_if_busy(console: Console) -> None:
    """If the machine was busy already, times and rates say little; bytes and memory still hold."""
    if (load := os.getloadavg()[0]) > _BUSY:
        busy = f"the machine is busy (load average {load:.1f}): times and rates are too bad"
        console.print(f"[yellow]{busy}[/]", highlight=False)
