"""`pame fault`: something is done to a running network, by hand."""

from typing import Annotated

import typer

from orchestrator.cli.remote import DEFAULT_ADDRESS, On, Security, Token, client_of
from orchestrator.errors import FaultNotDone
from orchestrator.experiment.faults.happened import node_names


def fault(
    what: Annotated[
        str, typer.Argument(metavar="FAULT", help="As in an experiment: '{kind: pause, nodes: [2], for: 5s}'.")
    ],
    on: On = DEFAULT_ADDRESS,
    token: Token = "",
    security: Security = None,
) -> None:
    """Inject a fault into the run under way; without `at` it begins at once. It is recorded in the run's plan.

    The answer comes when the nodes have begun; it is an error if they cannot.
    """
    with client_of(on, token, security) as client:
        planned = client.inject(what)
    for line in (*planned.events, *planned.begun):
        typer.echo(line)
    silent = [f"nothing was heard of it from {node_names(planned.silent)}: away, or stopped"] if planned.silent else []
    if planned.failures or (silent and not planned.begun):
        raise FaultNotDone("\n".join([*planned.failures, *silent]))
    for line in silent:
        typer.echo(line, err=True)
