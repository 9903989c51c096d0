"""`pame compare`: several algorithms on one experiment, tuned alike: who needs the fewest rounds, bytes, seconds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.algorithm_names import algorithm_name
from orchestrator.backends import NETWORKS
from orchestrator.campaigns.cell import SIMULATE
from orchestrator.campaigns.compare.campaign import CompareCampaign, make_comparison
from orchestrator.campaigns.compare.grid import left_out, tuning_cells, views
from orchestrator.campaigns.compare.report import degraded_runs, doubts_of
from orchestrator.campaigns.compare.survival import sentences, survivals
from orchestrator.campaigns.compare.survival_tables import terminal_matrix
from orchestrator.campaigns.compare.tables import company_line, ends_in_short, result_table
from orchestrator.campaigns.compare.verdict import CompareFinding, CompareOutcome
from orchestrator.cli import campaign as shared
from orchestrator.cli.arguments import file_meant, say_notes
from orchestrator.cli.live_page import NoPage, Stay, live_page
from orchestrator.cli.remote import Security, Token
from orchestrator.cli.run import run_submitted
from orchestrator.cli.tables import print_table
from orchestrator.number_words import count, duration


def compare(
    ctx: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="The comparison: a YAML file (docs/compare.md), or the name of a ready one (`pame examples`).",
            callback=file_meant,
        ),
    ] = None,
    backend: Annotated[
        str, typer.Option(help=f"Where the tuned algorithms run: {SIMULATE}, {', '.join(NETWORKS)}.")
    ] = SIMULATE,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=100, help="How many seeds to compare on.", show_default="as in the file")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One seed, and two settings tried: a look.")] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a setting of its base, e.g. nodes=64; repeatable."),
    ] = None,
    on: shared.ServedAt = None,
    token: Token = "",
    security: Security = None,
    resume: shared.Resume = None,
    out: shared.CampaignsFolder = Path("runs"),
    quiet: shared.Quiet = False,
    no_page: NoPage = False,
    stay: Stay = False,
) -> None:
    """Compare algorithms: tuned alike in the simulator, then measured on fresh seeds, with a table and a report."""
    if file is None and resume is None:
        raise typer.BadParameter("give the file of a comparison; see docs/compare.md")
    given = {"file": file, "backend": backend, "seeds": seeds, "quick": quick, "overrides": overrides, "on": on}
    beginning = shared.begin(ctx, "compare", given, resume)
    campaign = make_comparison(beginning.arguments)
    console = Console(quiet=quiet, highlight=False)
    with console.status("looking at the experiments"):
        campaign.check()
        nodes = shared.nodes_of(campaign.backend, beginning, token, security, lambda: campaign.nodes, console)
    _announce(campaign, console)
    with live_page(console, not no_page, beginning.arguments["on"], out, campaign.backend) as page:
        outcome, folder = shared.carry_out(campaign, beginning, nodes, out, console, page=page)
        _say(outcome, console)
        code = shared.say_end(folder, outcome.trouble, console)
        run_submitted(page, stay, code, campaign.backend, out, console)
    raise typer.Exit(code)


def _announce(campaign: CompareCampaign, console: Console) -> None:
    comparison = campaign.comparison
    say_notes(comparison.notes, console)
    tuning = count(len(tuning_cells(comparison)), "tuning run")
    names = ", ".join(map(algorithm_name, comparison.entries))
    where = f" in {', '.join(condition.name for condition in comparison.conditions)}" if comparison.conditions else ""
    runs = f"{tuning}, then {count(campaign.runs, 'run')} on fresh seeds"
    console.print(f"[bold]{comparison.name}[/]: {names}{where}; {runs}")
    for words in left_out(comparison).values():
        console.print(words, soft_wrap=True)


def _say_fewest(found: Sequence[CompareFinding], console: Console) -> None:
    """A line per target."""
    for words in dict.fromkeys(finding.goal.words for finding in found):
        mine = [finding for finding in found if finding.goal.words == words]
        names = (f"{finding.measure.words} [bold]{escape(finding.who)}[/]" for finding in mine)
        free = " (no communication gets there, too)" if mine[0].is_free else ""
        console.print(f"  fewest to {words}: {', '.join(names)}{free}", soft_wrap=True)


def _say(outcome: CompareOutcome, console: Console) -> None:
    if outcome.in_conditions:
        found = survivals(outcome)
        for view in views(outcome.comparison):
            print_table(terminal_matrix(outcome.comparison, found, view), console)
        for words in sentences(found):
            console.print(f"  {escape(words)}", soft_wrap=True, highlight=False)
    elif outcome.rows:
        for view in views(outcome.comparison):
            print_table(result_table(outcome, view), console)
            if not outcome.knows_optimum:
                print_table(ends_in_short(outcome, view), console)
            console.print(f"  {company_line(outcome, view)}", soft_wrap=True, highlight=False)
            _say_fewest([found for found in outcome.findings if found.view == view], console)
    for doubt in doubts_of(outcome):
        console.print(f"[yellow]look again:[/] {escape(doubt)}", soft_wrap=True)
    if words := degraded_runs(outcome):
        console.print(f"[yellow]degraded:[/] {escape(words)}", soft_wrap=True)
    shared.say_trouble(outcome.trouble, console)
    console.print(f"{duration(float(f'{outcome.seconds:.3g}'))} on this machine")
