"""`pame report`: write the report of a run or a sweep anew, from what is in its folder."""

import time
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.runs import RunsFolder
from orchestrator.report import write_report, write_sweep_report
from orchestrator.results import find_run, is_running


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its name below --out, or `last`.")],
    out: RunsFolder = Path("runs"),
) -> None:
    """Write the report of a run or a sweep anew and print its path; a run that broke off has one too."""
    now = time.time()
    folder = find_run(run, out, now)
    whole = folder.resolve()  # `.` has no name of its own
    if (folder / "sweep.json").is_file():
        written = write_sweep_report(whole)
    else:
        written = write_report(whole, running=is_running(whole, now))
    typer.echo(folder / written.name)
