"""`pame data`: the data sets there are, and preparing one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from contract.data_store import (
    DamagedData,
    DataNotPrepared,
    StoredData,
    check_data,
    data_folder,
    find_data,
    stored_names,
)
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.tables import LINE_PER_ROW, print_table, table_of, wide_console
from orchestrator.cli.terminal import make_bar
from orchestrator.data import CATALOGUE, TABLE, DataRefused, prepare
from orchestrator.data.prepare import Say, already, stored_name
from orchestrator.number_words import number, volume

Look = Callable[[str], StoredData]


class Action(StrEnum):
    LIST = "list"
    PREPARE = "prepare"


def data(
    action: Annotated[Action, typer.Argument(help="What to do.")] = Action.LIST,
    kind: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help=f"To prepare: {', '.join(CATALOGUE)}, or {TABLE}.")
    ] = None,
    given: Annotated[
        Path | None, typer.Option("--from", metavar="PATH", help="Where you have it: a folder, an archive, a table.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="What a table will be called; else as its file.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="To list: read all samples and compare their sums, a second for 200 MB.")
    ] = False,
) -> None:
    """List the data sets, or prepare one, once: it is kept as arrays in PAME_DATA or the cache folder."""
    console = wide_console(LINE_PER_ROW) if action is Action.LIST else Console(highlight=False)
    if action is Action.LIST:
        if kind is not None or given is not None or name is not None:
            raise DataRefused("`pame data list` takes nothing more; did you mean `pame data prepare`?")
        _list(console, check_data if check else find_data)
        return
    if check:
        raise DataRefused("--check is for `pame data list`: what is prepared already is checked by `prepare`, too")
    if kind is None:
        raise DataRefused(f"which data set? `pame data prepare NAME`, with {', '.join(CATALOGUE)} or {TABLE}")
    chosen = stored_name(kind, given, name)
    if there := already(chosen):
        console.print(f"{_line(there)}: already prepared, nothing to do", soft_wrap=True)
        return
    with _shown(chosen, console) as say:
        stored = prepare(kind, given, name, say)
    console.print(f"{_line(stored)}: prepared from {escape(stored.manifest.source)}", soft_wrap=True)
    if kind in CATALOGUE and CATALOGUE[kind].sha256 is None:
        sha256 = stored.manifest.sha256
        console.print(
            f"[cyan]note:[/] no sum of {kind} is known to compare with; this one has {sha256}", soft_wrap=True
        )


def _line(stored: StoredData) -> str:
    manifest = stored.manifest
    return (
        f"{escape(manifest.name)}: {number(sum(manifest.train_counts))} + {number(sum(manifest.test_counts))} samples, "
        f"{len(manifest.classes)} classes, {volume(stored.bytes)}, in {escape(str(stored.folder))}"
    )


def _list(console: Console, look: Look) -> None:
    """What is damaged is a line below the table, and exit code 1 if a check was asked for."""
    damaged: list[str] = []
    figures, places = ("train", "test", "classes", "size"), ("source", "where")
    table = table_of(("name", "prepared", *figures, *places), right=figures, wraps=places)
    own = [name for name in stored_names() if name not in CATALOGUE]
    for name in (*CATALOGUE, *own):
        table.add_row(*_cells(name, look, damaged))
    print_table(table, console)
    console.print("[dim]your own samples: `pame data prepare table --from FILE` (.npz or .csv)[/]", soft_wrap=True)
    for line in damaged:
        console.print(f"[red]damaged:[/] {escape(line)}", soft_wrap=True)
    if damaged and look is check_data:
        raise typer.Exit(ExitCode.FAULT)


def _cells(name: str, look: Look, damaged: list[str]) -> tuple[str, ...]:
    try:
        stored = look(name)
    except DataNotPrepared:
        entry = CATALOGUE[name]
        first = entry.sources[0].words
        return (name, "no", "", "", number(len(entry.classes)) if entry.classes else "", "", escape(first), "")
    except DamagedData as error:
        damaged.append(str(error))
        return (escape(name), "[red]damaged[/]", "", "", "", "", "", escape(str(data_folder() / name)))
    manifest = stored.manifest
    return (
        escape(name), "[green]yes[/]", number(sum(manifest.train_counts)), number(sum(manifest.test_counts)),
        number(len(manifest.classes)), volume(stored.bytes), escape(manifest.source), escape(str(stored.folder)),
    )  # fmt: skip


@contextmanager
def _shown(name: str, console: Console) -> Iterator[Say]:
    """A bar where there is a terminal; nothing elsewhere."""
    if not console.is_terminal:
        yield lambda _words, _share: None
        return
    with make_bar() as bar:
        task = bar.add_task(name, total=1.0, reached="")

        def say(words: str, share: float | None) -> None:
            bar.tasks[0].total = None if share is None else 1.0  # without an end, it moves to and fro
            bar.update(task, completed=share or 0.0, reached=words)

        yield say
