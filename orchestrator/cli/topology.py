"""`pame topology`: draw and describe the graph of an experiment."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from orchestrator.cli.arguments import ExperimentFile, Overrides, Seed, load_variants
from orchestrator.errors import writing
from orchestrator.experiment.resolve import make_topology
from orchestrator.results.graph_drawing.braille import draw
from orchestrator.results.graph_drawing.svg import svg
from pame.topology.describe import Description, describe
from pame.topology.layout import layout

_WIDTH, _HEIGHT = 72, 26


def topology(
    file: ExperimentFile = None,
    seed: Seed = None,
    overrides: Overrides = None,
    picture: Annotated[Path | None, typer.Option("--svg", help="Also write the picture to this SVG file.")] = None,
) -> None:
    """Draw the graph in the terminal and describe it; of a sweep, the first run's."""
    variants, base = load_variants(file, overrides, seed)
    experiment = variants[0].experiment
    graph = make_topology(experiment, base)
    positions = layout(graph)
    console = Console(highlight=False)
    console.print(draw(graph, positions, min(_WIDTH, console.width), _HEIGHT), markup=False, soft_wrap=True)
    console.print(_table(experiment.topology.kind, describe(graph)))
    if picture is not None:
        with writing(picture):
            picture.write_text(svg(graph, positions), encoding="utf-8")
        console.print(f"picture: [bold]{escape(str(picture))}[/]", soft_wrap=True)


def _table(kind: str, figures: Description) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2))
    gap = "not found" if figures.spectral_gap is None else f"{figures.spectral_gap:.4g}"
    rows = {
        "kind": kind,
        "nodes": str(figures.nodes),
        "edges": str(figures.edges),
        "degree": f"{figures.degree_min} to {figures.degree_max}, mean {figures.degree_mean:.4g}",
        "diameter": f"{'' if figures.diameter_exact else 'at least '}{figures.diameter}",
        "spectral gap": f"{gap} (Metropolis weights; 1 mixes at once, 0 never)",
    }
    for name, value in rows.items():
        table.add_row(f"[bold]{name}[/]", value)
    return table
