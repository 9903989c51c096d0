"""`pame fault`: something is done to a running network, by hand."""

from typing import Annotated

import typer

from orchestrator.cli.remote import DEFAULT_ADDRESS, On, Security, Token, client_of


def fault(
    what: Annotated[
        str, typer.Argument(metavar="FAULT", help="As in an experiment: '{kind: pause, nodes: [2], for: 5s}'.")
    ],
    on: On = DEFAULT_ADDRESS,
    token: Token = "",
    security: Security = None,
) -> None:
    """Inject a fault into the run under way; without `at` it begins at once. It is recorded in the run's plan."""
    with client_of(on, token, security) as client:
        for line in client.inject(what):
            typer.echo(line)
