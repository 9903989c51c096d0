"""The arguments that several verbs share."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.experiment import Variant, default_path, load, swept_keys
from orchestrator.experiment.ready import find_experiment


def file_meant(given: Path | None) -> Path | None:
    """For an argument that names a file: one that is there, or a ready experiment by its name."""
    return None if given is None else find_experiment(given)


ExperimentFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="The experiment: a YAML file, or the name of a ready one (`pame examples`). Without it, the embedded "
        "default.",
        callback=file_meant,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, e.g. algorithm.support=0.1; repeatable."),
]
Runs = Annotated[Path, typer.Option("--runs", help="Where the run folders are.", file_okay=False)]
"""For verbs whose `--out` is something else."""
Seed = Annotated[int | None, typer.Option(help="Override the seed.", min=0, max=2**63 - 1)]


def load_variants(file: Path | None, overrides: list[str] | None, seed: int | None) -> tuple[list[Variant], Path]:
    """The experiments of a file with its overrides, and the folder that file names in it are relative to."""
    path = file or default_path()
    seeds = [] if seed is None else [f"seed={seed}"]
    return load(path, [*(overrides or []), *seeds]), path.parent


def say_notes(notes: Iterable[str], console: Console) -> None:
    """What became of settings of the file, one line each."""
    for note in dict.fromkeys(notes):
        console.print(f"[cyan]note:[/] {escape(note)}", soft_wrap=True)


def swept_words(variants: Sequence[Variant]) -> str:
    """E.g. `a sweep of 6 runs over nodes, seed`."""
    return f"a sweep of {len(variants)} runs over {', '.join(swept_keys(variants))}"
