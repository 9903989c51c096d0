"""`pame serve`: an orchestrator that nodes join and clients use, until it is told to stop."""

import asyncio
import secrets
from pathlib import Path
from typing import Annotated, Any

import typer
from threadpoolctl import threadpool_limits

from contract.logs import log_to_terminal
from contract.ports.tls_failures import TlsFailures
from orchestrator.backends.served import FirstRun
from orchestrator.backends.served import serve as serve_until_told
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.remote import Token
from orchestrator.cli.run_exit_codes import exit_code
from orchestrator.control import ControlPlane, Tls
from orchestrator.control.security import Authority, keep_token
from orchestrator.experiment.ready import find_experiment
from orchestrator.experiment.units import DURATION
from orchestrator.live.served_names import name_of
from orchestrator.results import Ending


def _duration(text: str) -> float:
    try:
        return DURATION.parse(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a duration such as 3s or 500ms") from None


def _port(meaning: str) -> Any:
    return typer.Option(help=meaning, min=0, max=65535)


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, _port("For nodes and clients; 0: any free one.")] = 4750,
    metrics_port: Annotated[int, _port("For Prometheus; 0: any free one.")] = 4751,
    page_port: Annotated[int | None, _port("Show the network live there; 0: any free one.")] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            envvar="PAME_ALLOW_HOST",
            metavar="NAME",
            help="The page is also served under this name; repeat for more. Other names are refused.",
        ),
    ] = None,
    health_port: Annotated[int | None, _port("Answer gRPC health checks there, on loopback.")] = None,
    security: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Mutual TLS: leave authority and token in this folder, for nodes and clients.",
            file_okay=False,
        ),
    ] = None,
    join_port: Annotated[int, _port("With --security: for clients, and for nodes that enrol.")] = 4749,
    token: Token = "",
    out: Annotated[Path, typer.Option(help="Where run folders go.", file_okay=False)] = Path("runs"),
    experiment: Annotated[
        str | None,
        typer.Option(
            envvar="PAME_EXPERIMENT",
            metavar="FILE",
            help="Run this as soon as the nodes are there; the name of a ready experiment will do.",
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            envvar="PAME_NODES",
            metavar="N",
            help="So many nodes it waits for; without it, until nobody comes any more.",
        ),
    ] = None,
    stable: Annotated[
        float, typer.Option(help="For how long nobody must come or go.", parser=_duration, metavar="DURATION")
    ] = "3s",  # type: ignore[assignment]
    gather: Annotated[
        float,
        typer.Option(
            envvar="PAME_GATHER",
            help="With --exit: how long to wait for the nodes.",
            parser=_duration,
            metavar="DURATION",
        ),
    ] = "60s",  # type: ignore[assignment]
    leave: Annotated[
        bool, typer.Option("--exit", envvar="PAME_EXIT", help="Exit after that run, with its exit code.")
    ] = False,
    keep_nodes: Annotated[
        bool, typer.Option("--keep-nodes", help="When leaving, let the nodes wait for the next orchestrator.")
    ] = False,
) -> None:
    """Serve nodes (`python -m node`) and clients (`pame nodes`, `watch`, `run --on`) until Ctrl-C.

    One line per event on standard error: for people at a terminal, as JSON if it is piped.
    """
    if not experiment and (leave or nodes):
        raise typer.BadParameter("--exit and --nodes are about the run that begins by itself: add --experiment FILE")
    first = (
        FirstRun(find_experiment(Path(experiment)), _count(nodes), stable, gather if leave else None)
        if experiment
        else None
    )
    if first is not None:
        first.experiment(first.nodes)  # a mistake in the file shows at once
    names = tuple(allow_host or ())
    if bad := [name for name in names if name_of(name) is None]:
        raise typer.BadParameter(f"{bad[0]!r} is not a host name or an address (--allow-host, PAME_ALLOW_HOST)")
    tls = None
    if security is not None:
        tls = Tls(Authority(), join_port, TlsFailures())
        token = keep_token(security, token)
    elif not token:
        token = secrets.token_hex(16)
        typer.echo(f"token: {token}")

    async def run() -> Ending | None:
        control = ControlPlane(host, port, metrics_port, token, tls)
        return await serve_until_told(control, first, out, host, page_port, names, health_port, security, keep_nodes)

    log_to_terminal()
    with threadpool_limits(1):
        ending = asyncio.run(run())
    raise typer.Exit(exit_code(ending.status, ending.health) if ending else ExitCode.DONE)


def _count(text: str | None) -> int | None:
    """A number of nodes; an empty variable of the environment is none."""
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is not a number of nodes: give 2 or more, or nothing (--nodes, PAME_NODES)")
    return int(text)
