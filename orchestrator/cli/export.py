"""`pame export`: the tables of a run or a campaign as files for other programs."""

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.arguments import Runs
from orchestrator.errors import writing
from orchestrator.exports.campaign_tables import is_campaign, is_sweep, members
from orchestrator.exports.formats import write_csv, write_parquet
from orchestrator.exports.named_tables import CURVE, tables_in
from orchestrator.exports.tensorboard import write_event_file
from orchestrator.results import find_run
from orchestrator.results.files import ReportError


class ExportFormat(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"
    TENSORBOARD = "tensorboard"


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its name below --runs, or `last`.")],
    to: Annotated[ExportFormat, typer.Option("--to", help="Which kind of files.")] = ExportFormat.CSV,
    out: Annotated[
        Path | None, typer.Option(help="Where the files go.", file_okay=False, show_default="RUN/export")
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Write the tables of a run, a sweep or a comparison as CSV, Parquet or TensorBoard files; print their paths.

    The curve has f*, the gap to it and every metric as columns. docs/scripting.md says what each column means.
    """
    folder = find_run(run, runs, time.time()).resolve()
    place = out or folder / "export"
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
    if to is ExportFormat.TENSORBOARD:
        _export_curves(folder, place / to.value)
        return
    write = write_csv if to is ExportFormat.CSV else write_parquet
    for name, read in tables_in(folder).items():
        table = read()
        if not len(table) and name != CURVE:
            continue
        path = place / f"{name}.{to.value}"
        write(table, path)
        typer.echo(path)


def _export_curves(folder: Path, place: Path) -> None:
    """A folder for each run, as TensorBoard tells runs apart."""
    if is_campaign(folder):
        raise ReportError(f"{folder.name} keeps rows and no run folders: use --to csv or --to parquet")
    runs = [path for path, _ in members(folder)] if is_sweep(folder) else [folder]
    for run in runs:
        write_event_file(run, place / run.name)
        typer.echo(place / run.name)
    Console(stderr=True, highlight=False).print(f"look at it with: tensorboard --logdir {place}", soft_wrap=True)
