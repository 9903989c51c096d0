"""`pame study`: a claim of the paper, tested by a grid of runs in the simulator and a few on real nodes."""

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import orchestrator
from orchestrator.backends import BACKENDS, DEFAULT_BACKEND
from orchestrator.backends.standing_network import NETWORKS
from orchestrator.campaigns.studies import STUDIES, Study
from orchestrator.campaigns.studies.conduct import OnNodes, StudyOrder, conduct_study
from orchestrator.campaigns.studies.errors import StudyError
from orchestrator.campaigns.studies.grid import READINGS, StudyCell, base_experiment, experiment_of
from orchestrator.campaigns.studies.outcome import StudyOutcome
from orchestrator.campaigns.studies.real import StudyStage, Task, check_served, run_on_backend, run_on_served
from orchestrator.campaigns.studies.report import degraded_cells
from orchestrator.campaigns.studies.screen import StudyScreen
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.remote import Security, Token, client_of
from orchestrator.cli.tables import print_table
from orchestrator.cli.terminal import shown
from orchestrator.control.client import Client
from orchestrator.errors import UnknownBackend
from orchestrator.number_words import count
from orchestrator.results import create_folder
from orchestrator.results.paired import ENOUGH_SEEDS

_SIMULATE = "simulate"


def study(
    name: Annotated[str, typer.Argument(metavar="STUDY", help=f"Which one: {', '.join(STUDIES)}.")],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="Its base experiment (YAML).", show_default="experiments/study-<STUDY>.yaml"
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=100, help="How many seeds, from 1.", show_default="5; 1 with --quick")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small grid, and two cells on real nodes.")] = False,
    backend: Annotated[
        str,
        typer.Option(help=f"Where the chosen cells run: {', '.join(NETWORKS)}; {_SIMULATE}: none, only the grid."),
    ] = DEFAULT_BACKEND,
    on: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Run the chosen cells on the nodes of an orchestrator (`pame serve`)."),
    ] = None,
    token: Token = "",
    security: Security = None,
    out: Annotated[Path, typer.Option(help="Where its folder goes.", file_okay=False)] = Path("runs"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the folder.")] = False,
) -> None:
    """Test a claim: a grid in the simulator, chosen cells on real nodes, a report with a verdict."""
    if backend not in (*NETWORKS, _SIMULATE):
        raise UnknownBackend(f"a study runs on {', '.join(NETWORKS)} or {_SIMULATE}, not on {backend!r}")
    chosen = _find(name).small() if quick else _find(name)
    path = file or _file_of(chosen)
    numbers = tuple(range(1, 1 + (seeds or (1 if quick else 5))))
    console = Console(quiet=quiet, highlight=False)
    base = base_experiment(path)
    grid = chosen.cells(base, numbers)
    real = chosen.real_cells(base, numbers[0]) if on or backend != _SIMULATE else []
    client = client_of(on, token, security) if on else None
    with console.status("looking at the experiments"):
        _check([cell for cell in grid if cell.seed == numbers[0]], real, path, None if on else backend)
        if client is not None:
            check_served(client, base.nodes)
    folder = create_folder(out, f"study-{chosen.name}")
    on_nodes: OnNodes | None = None
    if client is not None:
        on_nodes = partial(_on_served, client, path, chosen)
    elif real:
        on_nodes = partial(_on_backend, backend, path, folder / "real", chosen)
    order = StudyOrder(chosen, path, numbers, folder, _command(name, file, len(numbers), quick, backend, on))
    console.print(f"[bold]{chosen.title}[/] {count(len(grid), 'cell')} in the simulator, {len(real)} on real nodes")
    with shown(console) as live:
        outcome = conduct_study(order, on_nodes, StudyScreen(len(grid), len(real), live))
    _say(outcome, console)
    console.print(f"report: [bold]{escape(str(folder / 'report.html'))}[/]", soft_wrap=True)
    if quiet:
        typer.echo(folder)
    raise typer.Exit(ExitCode.INTERRUPTED if outcome.trouble else ExitCode.DONE)


def _find(name: str) -> Study:
    if name not in STUDIES:
        raise StudyError(f"there is no study {name!r}; use one of: {', '.join(STUDIES)}")
    return STUDIES[name]


def _file_of(chosen: Study) -> Path:
    """In the folder where the user is, or where the testbed is."""
    here = Path("experiments") / f"study-{chosen.name}.yaml"
    there = Path(orchestrator.__file__).parent.parent / here
    found = next((path for path in (here, there) if path.is_file()), None)
    if found is None:
        raise StudyError(f"there is no {here} here: give the file of the base experiment")
    return found


def _check(grid: Sequence[StudyCell], real: Sequence[StudyCell], path: Path, backend: str | None) -> None:
    """Refuse what cannot be run before anything is begun; `backend`: where the real cells run, if it is here."""
    places = [(_SIMULATE, cell) for cell in grid] + [(backend, cell) for cell in real if backend is not None]
    for place, cell in places:
        BACKENDS[place].check(experiment_of(cell, path), path.parent)


def _on_backend(
    backend: str, path: Path, folder: Path, chosen: Study, tasks: Sequence[Task], stage: StudyStage
) -> bool:
    return run_on_backend(backend, tasks, path.parent, folder, chosen.target, stage)


def _on_served(client: Client, path: Path, chosen: Study, tasks: Sequence[Task], stage: StudyStage) -> bool:
    with client:
        return run_on_served(client, tasks, path.parent, chosen.target, stage)


def _command(name: str, file: Path | None, seeds: int, quick: bool, backend: str, on: str | None) -> str:
    words = ["pame", "study", name, *([str(file)] if file else []), "--seeds", str(seeds)]
    words += ["--quick"] if quick else []
    words += ["--on", on] if on else ["--backend", backend]
    return shlex.join(words)


def _say(outcome: StudyOutcome, console: Console) -> None:
    """The claim, and which reading of it holds which criterion under which condition."""
    console.print(f"The claim: {escape(outcome.study.claim)}", soft_wrap=True)
    for reading in READINGS:
        mine = [judgement for judgement in outcome.judgements if judgement.reading == reading.words]
        table = Table("criterion", box=None, padding=(0, 1), header_style="bold")
        table.title, table.title_justify = escape(f"if {reading.words}"), "left"
        for condition in outcome.study.conditions[1:]:
            table.add_column(condition.short)
        for judgement in mine:
            known = {finding.condition: finding.words for finding in judgement.findings}
            cells = [known.get(condition.words, "–") for condition in outcome.study.conditions[1:]]
            table.add_row(judgement.about, *cells)
        print_table(table, console)
    if len(outcome.seeds) < ENOUGH_SEEDS:
        console.print(f"{count(len(outcome.seeds), 'seed')}: a look, never a verdict")
    if words := degraded_cells(outcome):
        console.print(f"[yellow]degraded:[/] {escape(words)}", soft_wrap=True)
    if outcome.trouble:
        console.print(f"[yellow]not complete:[/] {escape(outcome.trouble)}", soft_wrap=True)
