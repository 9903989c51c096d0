"""Tables on a terminal: lines wrap between words; a number or a word is never cut in two."""

from collections.abc import Collection, Iterable

from rich.console import Console, JustifyMethod
from rich.table import Column, Table

LINE_PER_ROW = 240
"""A width for long rows, where no terminal sets one."""
_WIDEST = 10_000


def wide_console(width: int = 160) -> Console:
    """For tables; so wide where no terminal sets a width."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = width
    return console


def table_of(headings: Iterable[str], right: Collection[str] = (), wraps: Collection[str] = ()) -> Table:
    """Without rows yet; some columns stand at the right, some wrap."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in headings:
        side: JustifyMethod = "right" if name in right else "left"
        table.add_column(name, justify=side, overflow="fold", no_wrap=name not in wraps)
    return table


def print_table(table: Table, console: Console) -> None:
    """At least as wide as its longest words, and as its columns that do not wrap, however narrow the terminal is."""
    between = table.padding[1] + table.padding[3]
    least = sum(_least(column, console) + between for column in table.columns) - (0 if table.pad_edge else between)
    if least > console.width:
        table.width = least
    console.print(table, crop=False)


def _least(column: Column, console: Console) -> int:
    """How many characters a column needs for its heading and its cells."""
    room = console.options.update(width=_WIDEST)
    sizes = [console.measure(cell, options=room) for cell in (column.header, *column.cells)]
    return max(size.maximum if column.no_wrap else size.minimum for size in sizes)
