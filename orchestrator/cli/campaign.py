"""What the verbs of campaigns share: --resume, where nodes are, the folder, the terminal, the last lines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.campaigns.cell import SIMULATE
from orchestrator.campaigns.conduct import Campaign, conduct
from orchestrator.campaigns.on_nodes import Nodes, ProcessNodes, ServedNodes
from orchestrator.campaigns.rows import CannotResume
from orchestrator.cli.campaign_screen import CampaignScreen
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.live_page import say_page_of
from orchestrator.cli.remote import client_of
from orchestrator.cli.terminal import shown
from orchestrator.results import create_folder
from orchestrator.results.campaign_record import FINISHED, CampaignRecord, digest, read_record
from pame.observe import Evaluation

if TYPE_CHECKING:
    from orchestrator.live import ShownCommand

Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Go on with what was interrupted or killed, as it was begun; what is done is not done again.",
        file_okay=False,
        exists=True,
    ),
]
ServedAt = Annotated[
    str | None,
    typer.Option("--on", metavar="HOST:PORT", help="Run on the nodes of an orchestrator (`pame serve`) instead."),
]
CampaignsFolder = Annotated[Path, typer.Option("--out", help="Where its folder goes.", file_okay=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the folder.")]
Outcome = TypeVar("Outcome")
_ANEW = ("on",)
"""What may be said again of a campaign that goes on: nodes may have moved."""


@dataclass(frozen=True)
class Beginning:
    """What is asked for: now, or when the folder was begun that goes on."""

    verb: str
    arguments: Mapping[str, Any]
    folder: Path | None = None
    record: CampaignRecord | None = None


def begin(ctx: typer.Context, verb: str, arguments: Mapping[str, Any], resume: Path | None) -> Beginning:
    """`arguments`: all that the command was given, but where its folder goes and how to get at nodes."""
    if resume is None:
        return Beginning(verb, {name: _plain(value) for name, value in arguments.items()})
    record = read_record(resume)
    if record is None or record.verb != verb:
        other = "" if record is None else f", but one of `pame {record.verb}`"
        raise CannotResume(f"{resume} holds no campaign of `pame {verb}`{other}: give the folder of one")
    for name in arguments:
        source = ctx.get_parameter_source(name)
        if name not in _ANEW and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"--resume goes on with what {resume} was begun with: leave {name} out")
    for path, known in record.files.items():
        if digest(Path(path)) != known:
            raise CannotResume(f"{path} is not what it was when {resume} began: put it back, or begin anew")
    again = {name: arguments[name] for name in _ANEW if arguments.get(name) is not None}
    return Beginning(verb, {**record.arguments, **again}, resume, record)


def nodes_of(
    backend: str, beginning: Beginning, token: str, security: Path | None, nodes: Callable[[], int], console: Console
) -> Nodes | None:
    """None: everything is simulated. A served orchestrator with fewer nodes than so many is refused."""
    if on := beginning.arguments["on"]:
        client = client_of(on, token, security)
        served = ServedNodes(client)
        served.check(nodes())
        say_page_of(client, console)
        return served
    return None if backend == SIMULATE else ProcessNodes(backend)


def carry_out(
    campaign: Campaign[Outcome],
    beginning: Beginning,
    nodes: Nodes | None,
    out: Path,
    console: Console,
    newest: Callable[[Evaluation], Mapping[str, str]] | None = None,
    page: "ShownCommand | None" = None,
) -> tuple[Outcome, Path]:
    """All of it, or the rest of it; the outcome, and the folder. `page`: where all of it is seen, if it is."""
    record = beginning.record or CampaignRecord(
        beginning.verb, campaign.command, beginning.arguments, {str(path): digest(path) for path in campaign.files}
    )
    folder = beginning.folder or create_folder(out, campaign.name)
    if isinstance(nodes, ProcessNodes):
        nodes.host = page
    progress = page.conducts(campaign.name, beginning.verb, folder) if page is not None else None
    status = "failed"
    try:
        with shown(console) as live:
            screen = CampaignScreen(campaign.figures, live, newest, progress)
            outcome = conduct(campaign, replace(record, arguments=beginning.arguments), folder, screen, nodes)
        status = _status_of(folder)
    finally:
        if progress is not None:
            progress.over(status)
    return outcome, folder


def _status_of(folder: Path) -> str:
    record = read_record(folder)
    return FINISHED if record is None else record.status


def say_end(folder: Path, trouble: str | None, console: Console) -> ExitCode:
    """Where the report is; the exit code."""
    say_report(folder, console)
    return ExitCode.INTERRUPTED if trouble else ExitCode.DONE


def say_report(folder: Path, console: Console) -> None:
    console.print(f"report: [bold]{escape(str(folder / 'report.html'))}[/]", soft_wrap=True)
    if console.quiet:
        typer.echo(folder)


def say_trouble(trouble: str | None, console: Console) -> None:
    if trouble:
        console.print(f"[yellow]not complete:[/] {escape(trouble)}", soft_wrap=True)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
