"""`pame init`: a first experiment of one's own, with a comment on every line."""

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.cli.new_file import write_new


def init(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="What to write.", dir_okay=False)] = Path(
        "experiment.yaml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Write it even if there is such a file already.")] = False,
) -> None:
    """Write an experiment file with a comment on every line, to change and run."""
    starter = resources.files("orchestrator.experiment") / "starter.yaml"
    write_new(file, starter.read_text(encoding="utf-8"), force)
    console, name = Console(highlight=False), escape(str(file))
    console.print(f"wrote [bold]{name}[/]: change a line, then", soft_wrap=True)
    console.print(f"  pame validate {name}    says what it will do\n  pame run {name}         runs it", soft_wrap=True)
