"""What the verbs that talk to a served orchestrator share: where it is, and a run watched from afar."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.markup import escape

from contract.rpc import experiments_pb2 as pb
from orchestrator.algorithm_names import algorithm_name
from orchestrator.cli.live_page import say_page_of
from orchestrator.cli.run_exit_codes import exit_code
from orchestrator.cli.terminal import RunScreen, shown
from orchestrator.control.client import Client, Retelling, health_of
from orchestrator.control.security import read_vault
from orchestrator.errors import Unreachable
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.experiment.named_files import carried
from orchestrator.number_words import duration
from orchestrator.results import Status
from orchestrator.results.health import Health, State
from pame.algorithms import PameSpec
from pame.stopping import StopRules

DEFAULT_ADDRESS = "127.0.0.1:4750"

On = Annotated[
    str, typer.Option("--on", envvar="PAME_ON", metavar="HOST:PORT", help="The orchestrator (`pame serve`).")
]
Token = Annotated[
    str, typer.Option(envvar="PAME_TOKEN", metavar="TOKEN", help="The orchestrator's token.", show_default=False)
]

Security = Annotated[
    Path | None,
    typer.Option(
        envvar="PAME_SECURITY",
        metavar="DIR",
        help="The orchestrator's security folder, with authority and token: TLS.",
        show_default=False,
    ),
]


def client_of(address: str, token: str, security: Path | None) -> Client:
    """A client; a token of its own goes before that in the folder."""
    if security is None:
        return Client(address, token)
    vault = read_vault(security)
    return Client(address, token or vault.token, vault.authority)


def headline(experiment: Experiment) -> str:
    return (
        f"[bold]{experiment.name}[/]: {experiment.nodes} nodes, {experiment.topology.kind}, {experiment.problem.kind}, "
        f"{algorithm_name(experiment.algorithm.kind)}"
    )


def say_steps(experiments: Iterable[Experiment], console: Console) -> None:
    """PaME's step, each once: the paper prints one, and its tables are matched by another."""
    steps = (one.algorithm.step.words for one in experiments if isinstance(one.algorithm, PameSpec))
    for words in dict.fromkeys(steps):
        console.print(f"step: {words}", soft_wrap=True)


def run_on(client: Client, experiment: Experiment, base: Path, console: Console) -> int:
    """Submit an experiment, whose file is in `base`, and watch it; Ctrl-C cancels it. The exit code of the run."""
    files = carried(experiment, base)
    with client:
        say_page_of(client, console)
        accepted = client.submit(to_yaml(experiment), files)
        console.print(f"{headline(experiment)}, run {accepted.run} on {escape(client.address)}", soft_wrap=True)
        say_steps([experiment], console)
        try:
            ended = watch_run(client, accepted.run, console)
        except KeyboardInterrupt:
            client.cancel(accepted.run)
            ended = watch_run(client, accepted.run, Console(quiet=True))
    code = say_end(ended, console)
    report = escape(f"{accepted.folder}/report.html")
    console.print(f"report: [bold]{report}[/], among the run folders of the orchestrator", soft_wrap=True)
    if console.quiet:
        typer.echo(accepted.folder)
    return code


def watch_run(client: Client, run: int, console: Console) -> pb.Ended:
    with shown(console) as live:
        ended = _follow(client.watch(run), live)
    if ended is None:
        raise Unreachable("the orchestrator left before the run ended: look into its run folder")
    return ended


def say_end(ended: pb.Ended, console: Console) -> int:
    """One line about the end of a run; the exit code of the run."""
    status, health = Status(ended.status), health_of(ended)
    words = [f"{ended.iterations} iterations in {duration(ended.seconds)}", "exact" if ended.exact else "not exact"]
    took = ", ".join([*words, *([health.state.value] if health else [])])
    if status in (Status.FINISHED, Status.INTERRUPTED):
        console.print(f"[bold]{status.value}[/]: {escape(ended.reason)}; {took}", soft_wrap=True)
    else:
        errors = Console(stderr=True, soft_wrap=True, highlight=False)
        errors.print("[red]error:[/]", escape(ended.reason))
    if status is Status.FINISHED:  # what failed has said why
        say_health(health)
    return exit_code(status, health)


def say_health(health: Health | None) -> None:
    """One line if the run is degraded; a broken one has failed, and its reason was said."""
    if health is not None and health.state is State.DEGRADED:
        Console(stderr=True, soft_wrap=True, highlight=False).print("[yellow]degraded:[/]", escape(health.reason))


def _follow(events: Iterable[pb.Event], live: Live) -> pb.Ended | None:
    retelling: Retelling | None = None
    live.update("waiting for a run")
    for event in events:
        kind = event.WhichOneof("kind")
        if kind == "ended":
            return event.ended
        if kind == "phase" and retelling is None:
            about = event.phase
            stop = StopRules(about.iterations or None, seconds=about.seconds or None)
            retelling = Retelling(RunScreen(about.name, about.nodes, stop, live))
        if retelling is not None:
            retelling.tell(event)
    return None
