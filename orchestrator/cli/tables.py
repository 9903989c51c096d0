"""Tables on a terminal: lines wrap between words; a number or a word is never cut in two."""

from rich.console import Console
from rich.table import Column, Table

_WIDEST = 10_000


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
