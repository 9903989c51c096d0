"""docs/commands.md from the command itself: `make reference`."""

import inspect
import re
from collections.abc import Iterator

import typer
from typer.core import TyperCommand, TyperGroup

from orchestrator.cli.app import app
from orchestrator.cli.exit_codes import EPILOG

_INTRODUCTION = """\
# Commands

Written by `make reference` from the command itself; do not edit it by hand. `pame VERB --help` says the same.

`pame` without an experiment file takes the embedded one. `--set KEY=VALUE` overrides any key of the file and can be
repeated. `pame --install-completion` teaches your shell the verbs and options.
"""
_WIDE = 10_000
_OF_ANY_COMMAND = re.compile(r"--(help|install-completion|show-completion)\b")


def page() -> str:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    verbs = list(_verbs(group))
    parts = [_INTRODUCTION, "| command | what it does |", "|---|---|"]
    parts += [f"| [`pame {name}`](#pame-{name}) | {_first_sentence(command)} |" for name, command in verbs]
    parts += ["", "## Before the verb", "", *_table(group, "pame")]
    for name, command in verbs:
        parts += ["", f"## pame {name}", "", _text(command), ""]
        parts += [f"    {_usage(command, f'pame {name}')}", "", *_table(command, f"pame {name}")]
    parts += ["", "## Exit codes", "", EPILOG.removeprefix("Exit codes: ")]
    parts += ["[Exit codes and refusals](refusals.md) says what to do about each.", ""]
    return "\n".join(parts)


def _verbs(group: TyperGroup) -> Iterator[tuple[str, TyperCommand]]:
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert isinstance(command, TyperCommand)
        yield name, command


def _text(command: TyperCommand) -> str:
    return inspect.cleandoc(command.help or "")


def _first_sentence(command: TyperCommand) -> str:
    return _cell(_text(command).partition("\n\n")[0])


def _usage(command: TyperCommand, name: str) -> str:
    context = typer.Context(command, info_name=name)
    return f"{name} {' '.join(command.collect_usage_pieces(context))}"


def _table(command: TyperCommand | TyperGroup, name: str) -> list[str]:
    """What the help says of each argument and option."""
    context = typer.Context(command, info_name=name, terminal_width=_WIDE)
    records = [record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))]
    rows = [f"| `{_cell(left)}` | {_cell(right)} |" for left, right in records if not _OF_ANY_COMMAND.search(left)]
    return ["| | meaning |", "|---|---|", *rows] if rows else ["It has no options."]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
