"""`pame replay`: a run once more, with the very same plan of faults, faults by hand included."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.backends import BACKENDS, DEFAULT_BACKEND
from orchestrator.cli.run import run_here
from orchestrator.cli.runs import RunName, RunsFolder
from orchestrator.errors import UnknownBackend, UnreadableFile
from orchestrator.experiment import load
from orchestrator.results import find_run


def replay(
    run: RunName,
    backend: Annotated[str, typer.Option(help=f"Where the nodes run: {', '.join(BACKENDS)}.")] = DEFAULT_BACKEND,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the run folder.")] = False,
    out: RunsFolder = Path("runs"),
) -> None:
    """Run a run again: its experiment, and its plan as it was, not compiled anew."""
    if backend not in BACKENDS:
        raise UnknownBackend(f"there is no backend {backend!r}; use one of: {', '.join(BACKENDS)}")
    folder = find_run(run, out, time.time())
    if not (folder / "experiment.yaml").is_file():
        raise UnreadableFile(
            f"{folder} has no experiment.yaml: a sweep is replayed run by run, give one of its folders"
        )
    planned = ["faults=null", "plan=plan.jsonl"] if (folder / "plan.jsonl").is_file() else []
    [variant] = load(folder / "experiment.yaml", planned)
    code, _ = run_here(variant, folder, backend, out, Console(quiet=quiet, highlight=False))
    raise typer.Exit(code)
