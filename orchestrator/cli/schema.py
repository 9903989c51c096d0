"""`pame schema`: the JSON schema of experiment files, for editors."""

import json

import typer

from orchestrator.experiment import json_schema


def schema() -> None:
    """Print the JSON schema of experiment files; editors use it for completion and checks."""
    typer.echo(json.dumps(json_schema(), indent=2))
