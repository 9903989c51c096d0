"""`pame watch`: a run of a served orchestrator, live."""

from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.remote import DEFAULT_ADDRESS, On, Security, Token, client_of, say_end, watch_run


def watch(
    run: Annotated[
        int, typer.Argument(metavar="[RUN]", help="Its number; without it, the run under way or the next.", min=0)
    ] = 0,
    on: On = DEFAULT_ADDRESS,
    token: Token = "",
    security: Security = None,
) -> None:
    """Watch a run until it ends; the exit code is the run's. Ctrl-C ends the watching, not the run."""
    console = Console(highlight=False)
    try:
        with client_of(on, token, security) as client:
            code = say_end(watch_run(client, run, console), console)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    raise typer.Exit(code)
