"""`pame claims`: the paper's claims, each tested with a verdict, in the simulator or on nodes."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from orchestrator.backends import NETWORKS
from orchestrator.campaigns.cell import SIMULATE
from orchestrator.campaigns.claims import CLAIMS
from orchestrator.campaigns.claims.campaign import make_claims, without
from orchestrator.campaigns.claims.claim import ClaimsOutcome
from orchestrator.campaigns.verdicts import Verdict
from orchestrator.cli import campaign as shared
from orchestrator.cli.live_page import NoPage, Stay, live_page
from orchestrator.cli.remote import Security, Token
from orchestrator.cli.run import run_submitted
from orchestrator.cli.tables import print_table
from orchestrator.number_words import count, duration

_COLOURS = {Verdict.HOLDS: "green", Verdict.PARTLY: "yellow", Verdict.FAILS: "red"}


def claims(
    ctx: typer.Context,
    full: Annotated[bool, typer.Option("--full", help="More seeds and cells; hours instead of minutes.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help=f"Only this claim; repeatable: {', '.join(CLAIMS)}.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=99, help="How many seeds, from 1.", show_default="by claim and mode")
    ] = None,
    backend: Annotated[
        str, typer.Option(help=f"Where the runs are: {SIMULATE}, {', '.join(NETWORKS)}; tuning is simulated.")
    ] = SIMULATE,
    on: shared.ServedAt = None,
    token: Token = "",
    security: Security = None,
    resume: shared.Resume = None,
    out: shared.CampaignsFolder = Path("runs"),
    quiet: shared.Quiet = False,
    no_page: NoPage = False,
    stay: Stay = False,
) -> None:
    """Test the paper's claims: one table of verdicts, and a report with a section for each."""
    lacking = without(only or []) if resume is None else {}
    given = {"full": full, "only": only, "seeds": seeds, "backend": backend, "on": on, "without": lacking}
    beginning = shared.begin(ctx, "claims", given, resume)
    campaign = make_claims(beginning.arguments)
    console = Console(quiet=quiet, highlight=False)
    with console.status("looking at the experiments"):
        runs = campaign.count_runs()
        campaign.check()
        nodes = shared.nodes_of(campaign.backend, beginning, token, security, lambda: campaign.nodes, console)
    where = "in the simulator" if campaign.backend == SIMULATE else f"on {campaign.backend}"
    words = f"{campaign.mode.value} mode: {count(runs, 'run')} {where}"
    console.print(f"[bold]{count(len(campaign.claims), 'claim')}[/], {words}")
    for words in campaign.left_out:
        console.print(f"[yellow]not tested:[/] {escape(words)}", soft_wrap=True)
    with live_page(console, not no_page, beginning.arguments["on"], out, campaign.backend) as page:
        outcome, folder = shared.carry_out(campaign, beginning, nodes, out, console, page=page)
        print_table(_table(outcome), console)
        shared.say_trouble(outcome.trouble, console)
        console.print(f"{duration(float(f'{outcome.seconds:.3g}'))} on this machine")
        code = shared.say_end(folder, outcome.trouble, console)
        run_submitted(page, stay, code, campaign.backend, out, console)
    raise typer.Exit(code)


def _table(outcome: ClaimsOutcome) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("claim", "verdict", "deciding parts"):
        table.add_column(heading, no_wrap=True)
    table.add_column("by reading")
    for key, judgement in outcome.judgements.items():
        readings = "; ".join(f"{name}: {verdict.value}" for name, verdict in judgement.readings.items())
        verdict = f"[{_COLOURS.get(judgement.verdict, 'dim')}]{judgement.verdict.value}[/]"
        table.add_row(key, verdict, judgement.met, escape(readings or judgement.where))
    return table
