"""`pame watch`: a run of a served orchestrator, live."""

import re
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.remote import DEFAULT_ADDRESS, On, Security, Token, client_of, say_end, watch_run

_NUMBER = re.compile("[0-9]{1,19}")


def watch(
    run: Annotated[
        str,
        typer.Argument(metavar="[RUN]", help="Its name, or its number; without it, the run under way or the next."),
    ] = "",
    on: On = DEFAULT_ADDRESS,
    token: Token = "",
    security: Security = None,
) -> None:
    """Watch a run until it ends; the exit code is the run's. Ctrl-C ends the watching, not the run."""
    console = Console(highlight=False)
    try:
        with client_of(on, token, security) as client:
            number = int(run) if _NUMBER.fullmatch(run) else 0
            code = say_end(watch_run(client, number, console, "" if number else run), console)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    raise typer.Exit(code)
