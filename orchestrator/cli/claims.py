"""`pame claims`: the paper's claims, each tested in the simulator, with a verdict."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.campaigns.claims import CLAIMS, Claim, ClaimsMode
from orchestrator.campaigns.claims.conduct import ClaimsOrder, conduct_claims, count_runs
from orchestrator.campaigns.claims.errors import ClaimsError
from orchestrator.campaigns.claims.screen import ClaimsScreen
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.terminal import shown
from orchestrator.number_words import count, duration
from orchestrator.results import create_folder


def claims(
    full: Annotated[bool, typer.Option("--full", help="More seeds and cells; hours instead of minutes.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help=f"Only this claim; repeatable: {', '.join(CLAIMS)}.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=99, help="How many seeds, from 1.", show_default="by claim and mode")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the folder goes.", file_okay=False)] = Path("runs"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the folder.")] = False,
) -> None:
    """Test the paper's claims in the simulator: one table of verdicts, and a report with a section for each."""
    chosen = _chosen(only or [])
    mode = ClaimsMode.FULL if full else ClaimsMode.QUICK
    console = Console(quiet=quiet, highlight=False)
    order = ClaimsOrder(chosen, mode, seeds, _command(full, only or [], seeds))
    with console.status("looking at the experiments"):
        runs = count_runs(order)
    folder = create_folder(out, "claims")
    console.print(f"[bold]{count(len(chosen), 'claim')}[/], {mode.value} mode: {count(runs, 'run')} in the simulator")
    with shown(console) as live:
        outcome = conduct_claims(order, folder, ClaimsScreen(chosen, runs, live))
    if outcome.trouble:
        console.print(f"[yellow]not complete:[/] {escape(outcome.trouble)}", soft_wrap=True)
    console.print(f"{duration(float(f'{outcome.seconds:.3g}'))} on this machine")
    console.print(f"report: [bold]{escape(str(folder / 'report.html'))}[/]", soft_wrap=True)
    if quiet:
        typer.echo(folder)
    raise typer.Exit(ExitCode.INTERRUPTED if outcome.trouble else ExitCode.DONE)


def _chosen(only: list[str]) -> tuple[Claim, ...]:
    for key in only:
        if key not in CLAIMS:
            raise ClaimsError(f"there is no claim {key!r}; use one of: {', '.join(CLAIMS)}")
    return tuple(claim for key, claim in CLAIMS.items() if not only or key in only)


def _command(full: bool, only: list[str], seeds: int | None) -> str:
    words = ["pame", "claims", *(["--full"] if full else [])]
    words += [word for key in only for word in ("--only", key)]
    return shlex.join([*words, *(["--seeds", str(seeds)] if seeds else [])])
