"""`pame figure`: curves of runs as a figure for a paper."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.arguments import Runs
from orchestrator.exports.figure_series import (
    X_AXES,
    FigureRefused,
    Where,
    curves_of,
    lines_of,
    shared_windows,
)
from orchestrator.exports.paper_figure import PALETTES, FigureLook, check_format, draw
from orchestrator.results import find_run


def figure(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Folders of runs, sweeps or comparisons, their names, or `last`."),
    ],
    x: Annotated[str, typer.Option("--x", help=f"Along the horizontal axis: {', '.join(X_AXES)}.")] = "iteration",
    y: Annotated[
        str, typer.Option("--y", help="Along the vertical axis: gap, objective, consensus, a metric; any column.")
    ] = "gap",
    file: Annotated[
        Path, typer.Option("--out", help="The figure: a name that ends in .pdf, .svg or .png.", dir_okay=False)
    ] = Path("figure.pdf"),
    labels: Annotated[
        list[str] | None, typer.Option("--label", help="What a line is called; once for each line, in order.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="KEY=VALUE", help="Only runs with this setting, e.g. nodes=8; repeatable."),
    ] = None,
    width: Annotated[float, typer.Option(help="In mm: 84 is a column, 174 are two.")] = FigureLook.width_mm,
    height: Annotated[float, typer.Option(help="In mm.")] = FigureLook.height_mm,
    font: Annotated[str, typer.Option(help="A font of this machine.")] = FigureLook.font,
    font_size: Annotated[float, typer.Option(help="In points.")] = FigureLook.font_size,
    palette: Annotated[str, typer.Option(help=f"Colours: {', '.join(PALETTES)}.")] = FigureLook.palette,
    log: Annotated[
        bool | None, typer.Option("--log/--linear", help="The vertical axis.", show_default="log where it helps")
    ] = None,
    faults: Annotated[bool, typer.Option("--faults/--no-faults", help="Shade the windows of faults.")] = True,
    root: Runs = Path("runs"),
) -> None:
    """Draw curves of runs as a figure for a paper: PDF, SVG or PNG.

    Runs that differ in nothing but their seed are one line: the median, and a band from the lowest to the highest.
    Faults are shaded if all runs had the same plan.
    """
    check_format(file)
    look = FigureLook(width, height, font, font_size, palette, log)
    folders = [find_run(run, root, time.time()).resolve() for run in runs]
    curves = curves_of(folders, x, y, parse_where(where or ()))
    lines = lines_of(curves, labels or ())
    windows = shared_windows(curves) if faults else ()
    draw(lines, x, y, look, windows, all(curve.is_simulated for curve in curves)).write(file)
    console = Console(stderr=True, highlight=False)
    for line in lines:
        seeds = f" (median of {line.runs} seeds, band from lowest to highest)" if line.runs > 1 else ""
        console.print(f"{line.label}{seeds}", soft_wrap=True, markup=False)
    typer.echo(file)


def parse_where(texts: Sequence[str]) -> Where:
    found: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise FigureRefused(f"--where {text}: not of the form key=value; write e.g. --where nodes=8")
        found.setdefault(key.strip(), []).append(value.strip())
    return found
