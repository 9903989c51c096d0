"""`pame schema`: what an experiment file may say, for editors and for people."""

import json
from typing import Annotated

import typer

from orchestrator.experiment import json_schema
from orchestrator.experiment.reference import reference


def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a page to read: keys, defaults, meanings.")] = False,
) -> None:
    """Print the JSON schema of experiment files; editors use it for completion and checks."""
    typer.echo(reference() if markdown else json.dumps(json_schema(), indent=2), nl=not markdown)
