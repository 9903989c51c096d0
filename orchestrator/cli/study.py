"""`pame study`: a claim of the paper, tested by a grid of runs in the simulator and a few on real nodes."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from orchestrator.backends import DEFAULT_BACKEND, NETWORKS
from orchestrator.campaigns.cell import SIMULATE
from orchestrator.campaigns.studies import STUDIES
from orchestrator.campaigns.studies.campaign import make_study
from orchestrator.campaigns.studies.grid import READINGS
from orchestrator.campaigns.studies.report import degraded_cells
from orchestrator.campaigns.studies.verdict import StudyOutcome, verdict_words
from orchestrator.cli import campaign as shared
from orchestrator.cli.arguments import file_meant
from orchestrator.cli.live_page import NoPage, Stay, live_page
from orchestrator.cli.remote import Security, Token
from orchestrator.cli.run import run_submitted
from orchestrator.cli.tables import print_table
from orchestrator.number_words import count
from orchestrator.results.paired import ENOUGH_SEEDS


def study(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="STUDY", help=f"Which one: {', '.join(STUDIES)}.")] = "",
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Its base experiment: a YAML file, or the name of a ready one.",
            show_default="study-<STUDY>",
            callback=file_meant,
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=100, help="How many seeds, from 1.", show_default="5; 1 with --quick")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small grid, and two cells on real nodes.")] = False,
    backend: Annotated[
        str,
        typer.Option(help=f"Where the chosen cells run: {', '.join(NETWORKS)}; {SIMULATE}: none, only the grid."),
    ] = DEFAULT_BACKEND,
    on: shared.ServedAt = None,
    token: Token = "",
    security: Security = None,
    resume: shared.Resume = None,
    out: shared.CampaignsFolder = Path("runs"),
    quiet: shared.Quiet = False,
    no_page: NoPage = False,
    stay: Stay = False,
) -> None:
    """Test a claim: a grid in the simulator, chosen cells on real nodes, a report with a verdict."""
    given = {"name": name, "file": file, "seeds": seeds, "quick": quick, "backend": backend, "on": on}
    beginning = shared.begin(ctx, "study", given, resume)
    console = Console(quiet=quiet, highlight=False)
    campaign = make_study(beginning.arguments)
    with console.status("looking at the experiments"):
        campaign.check()
        nodes = shared.nodes_of(campaign.backend, beginning, token, security, lambda: campaign.base.nodes, console)
    cells = f"{count(len(campaign.grid()), 'cell')} in the simulator, {len(campaign.real())} on real nodes"
    console.print(f"[bold]{campaign.study.title}[/] {cells}")
    with live_page(console, not no_page, beginning.arguments["on"], out, campaign.backend) as page:
        outcome, folder = shared.carry_out(campaign, beginning, nodes, out, console, page=page)
        _say(outcome, console)
        code = shared.say_end(folder, outcome.trouble, console)
        run_submitted(page, stay, code, campaign.backend, out, console)
    raise typer.Exit(code)


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
            known = {finding.place: verdict_words(finding) for finding in judgement.findings}
            cells = [known.get(condition.words, "–") for condition in outcome.study.conditions[1:]]
            table.add_row(judgement.about, *cells)
        print_table(table, console)
    if len(outcome.seeds) < ENOUGH_SEEDS:
        console.print(f"{count(len(outcome.seeds), 'seed')}: a look, never a verdict")
    if words := degraded_cells(outcome):
        console.print(f"[yellow]degraded:[/] {escape(words)}", soft_wrap=True)
    shared.say_trouble(outcome.trouble, console)
