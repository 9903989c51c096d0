"""`pame serve`: an orchestrator that nodes join and clients use, until it is told to stop."""

import asyncio
import secrets
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from orchestrator.cli.exit_codes import EXIT, ExitCode
from orchestrator.cli.remote import Token
from orchestrator.experiment.units import DURATION
from orchestrator.network import Control
from orchestrator.runs import Ending
from orchestrator.serving import FirstRun
from orchestrator.serving import serve as serve_until_told


def _duration(text: str) -> float:
    try:
        return DURATION.parse(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a duration such as 3s or 500ms") from None


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="For nodes and clients; 0: any free one.", min=0, max=65535)] = 4750,
    metrics_port: Annotated[int, typer.Option(help="For Prometheus; 0: any free one.", min=0, max=65535)] = 4751,
    token: Token = "",
    out: Annotated[Path, typer.Option(help="Where run folders go.", file_okay=False)] = Path("runs"),
    experiment: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Run this as soon as the nodes are there.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(help="So many nodes it waits for; without it, until nobody comes any more.", min=1)
    ] = None,
    stable: Annotated[
        float, typer.Option(help="For how long nobody must come or go.", parser=_duration, metavar="DURATION")
    ] = "3s",  # type: ignore[assignment]
    leave: Annotated[bool, typer.Option("--exit", help="Exit after that run, with its exit code.")] = False,
) -> None:
    """Serve nodes (`python -m node`) and clients (`pame nodes`, `watch`, `run --on`) until Ctrl-C."""
    if experiment is None and (leave or nodes is not None):
        raise typer.BadParameter("--exit and --nodes are about the run that begins by itself: add --experiment FILE")
    first = FirstRun(experiment, nodes, stable) if experiment else None
    if first is not None:
        first.experiment(nodes)  # a mistake in the file shows at once
    if not token:
        token = secrets.token_hex(16)
        typer.echo(f"token: {token}")

    async def run() -> Ending | None:
        return await serve_until_told(Control(host, port, metrics_port, token), out, first, leave)

    with threadpool_limits(1):
        ending = asyncio.run(run())
    raise typer.Exit(EXIT[ending.status] if ending else ExitCode.DONE)
