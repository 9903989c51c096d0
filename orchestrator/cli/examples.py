"""`pame examples`: the experiments that come with the testbed, and copies of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.cli.arguments import file_meant
from orchestrator.cli.new_file import write_new
from orchestrator.cli.tables import print_table, table_of, wide_console
from orchestrator.experiment.ready import ReadyFile, ready_files


def examples(
    copy: Annotated[
        Path | None,
        typer.Option("--copy", metavar="NAME", help="Copy one into the current folder.", callback=file_meant),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="With --copy: even if there is such a file already.")] = False,
) -> None:
    """List the ready experiments. Each can be run, compared or checked by its name."""
    if copy is not None:
        target = Path(copy.name)
        write_new(target, copy.read_text(encoding="utf-8"), force)
        Console(highlight=False).print(f"wrote [bold]{escape(str(target))}[/]", soft_wrap=True)
        return
    console, found = wide_console(), ready_files()
    for verb, files in {
        "pame run NAME": [one for one in found if not one.is_comparison],
        "pame compare NAME": [one for one in found if one.is_comparison],
    }.items():
        console.print(f"[bold]{verb}[/]")
        _show(files, console)
    console.print("A name stands for its file: `pame validate NAME` checks it, `pame examples --copy NAME` copies it.")


def _show(files: Iterable[ReadyFile], console: Console) -> None:
    table = table_of(("name", "what it is"), wraps=("what it is",))
    table.show_header, table.padding = False, (0, 2, 0, 2)
    for one in files:
        first = f" First: pame data prepare {one.data}" if one.data else ""
        table.add_row(escape(one.name), f"{escape(one.about)}[dim]{escape(first)}[/]")
    print_table(table, console)
