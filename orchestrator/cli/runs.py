"""`pame runs`: the runs there are, and what became of each."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from orchestrator.algorithm_names import algorithm_name
from orchestrator.cli.tables import LINE_PER_ROW, print_table, table_of, wide_console
from orchestrator.number_words import count, duration, number, of_metric, volume
from orchestrator.results import RunEntry, list_runs

RunsFolder = Annotated[Path, typer.Option("--out", help="Where the run folders are.", file_okay=False)]

_LOOKS = {"finished": "green", "running": "cyan", "broken off": "yellow", "interrupted": "yellow", "diverged": "red"}
_HEALTH_LOOKS = {"sound": "green", "degraded": "yellow", "broken": "red"}


def runs(
    out: RunsFolder = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """List the runs, newest first."""
    entries = list_runs(out, time.time())
    if as_json:
        typer.echo(json.dumps([_plain(entry) for entry in entries], indent=1))
        return
    console = wide_console(LINE_PER_ROW)
    if not entries:
        console.print(f"there are no runs below {escape(str(out))} yet: make one with `pame run`", soft_wrap=True)
        return
    left_out = _show(entries, console)
    if left_out:
        console.print(f"[dim]not enough room for: {', '.join(left_out)} (--json has all)[/]", soft_wrap=True)


def _show(entries: Sequence[RunEntry], console: Console) -> list[str]:
    """Print the table with as many columns as fit, and return those that do not."""
    room, shown = console.options.update(width=LINE_PER_ROW), list(_COLUMNS)
    if all(entry.accuracy is None for entry in entries):
        shown.remove("accuracy")
    left_out: list[str] = []
    while console.measure(table := _table(entries, shown), options=room).maximum > console.width:
        if len(left_out) == len(_LEAST):
            break
        left_out.append(_LEAST[len(left_out)])
        shown.remove(left_out[-1])
    print_table(table, console)
    return left_out


def _table(entries: Sequence[RunEntry], columns: Sequence[str]) -> Table:
    table = table_of(columns, right=_NUMBERS, wraps=("name",))
    for entry in entries:
        table.add_row(*(_COLUMNS[name](entry) for name in columns))
    return table


def _status(entry: RunEntry) -> str:
    words = f"[{_LOOKS.get(entry.status, 'default')}]{escape(entry.status)}[/]"
    if entry.runs is None:
        return words
    of = f"{escape(entry.kind or '')} of {count(entry.runs, 'run')}"
    return of if entry.status == "finished" else f"{of}, {words}"


def _health(health: str | None) -> str:
    return "–" if health is None else f"[{_HEALTH_LOOKS.get(health, 'default')}]{escape(health)}[/]"


def _or_dash(words: Callable[[float], str], value: float | None) -> str:
    return "–" if value is None else words(value)


def _plain(entry: RunEntry) -> dict[str, Any]:
    return asdict(entry) | {"path": str(entry.path), "when": entry.when.isoformat()}


_COLUMNS: dict[str, Callable[[RunEntry], str]] = {
    "name": lambda entry: escape(entry.name),
    "when": lambda entry: f"{entry.when:%Y-%m-%d %H:%M}",
    "status": _status,
    "health": lambda entry: _health(entry.health),
    "backend": lambda entry: escape(entry.backend or "–"),
    "algorithm": lambda entry: escape(algorithm_name(entry.algorithm or "–")),
    "nodes": lambda entry: _or_dash(number, entry.nodes),
    "iterations": lambda entry: _or_dash(number, entry.iterations),
    "f(mean model)": lambda entry: _or_dash(number, entry.objective),
    "accuracy": lambda entry: _or_dash(lambda share: of_metric("accuracy", share), entry.accuracy),
    "sent": lambda entry: _or_dash(volume, entry.bytes),
    "duration": lambda entry: _or_dash(duration, entry.wall_seconds),
}
_NUMBERS = ("nodes", "iterations", "f(mean model)", "accuracy", "sent", "duration")
_LEAST = ("when", "nodes", "backend", "duration", "algorithm", "iterations", "sent")
"""The columns that a narrow terminal loses first; the names begin with the time anyway."""
