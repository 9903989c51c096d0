"""The verbs of `pame`: a verb's module is imported when it is called, so that help and version are there at once."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from orchestrator.cli.interrupt import raise_at_interrupt

GROUPS = {
    "Begin": {
        "init": "Write an experiment file with a comment on every line, to change and run.",
        "examples": "List the ready experiments, or copy one.",
        "run": "Run an experiment; lists in its file make a sweep.",
        "doctor": "Say what works on this machine, what is missing, and how to get it.",
    },
    "Look at an experiment before it runs": {
        "validate": "Say whether an experiment is right, what it will do and how long it will take.",
        "topology": "Draw the graph in the terminal and describe it.",
        "links": "Show what every link does.",
        "verify": "Measure every link of an experiment.",
        "schema": "Print the JSON schema of experiment files, for editors.",
    },
    "Look at what came out": {
        "runs": "List the runs, newest first.",
        "report": "Write the report of a run or a campaign anew.",
        "replay": "Run a run again, with its faults as they were.",
        "export": "Write the tables of a run or a campaign as CSV, Parquet or TensorBoard files.",
        "figure": "Draw curves of runs as a figure for a paper: PDF, SVG or PNG.",
    },
    "Ask a question with many runs": {
        "compare": "Compare algorithms, tuned alike, on fresh seeds.",
        "study": "Test a claim with a grid of runs, some of them on real nodes.",
        "claims": "Test the paper's claims: one table of verdicts.",
    },
    "Keep a network and work with it": {
        "serve": "Serve nodes and clients until Ctrl-C.",
        "nodes": "List the nodes that have joined an orchestrator.",
        "watch": "Watch a run until it ends.",
        "fault": "Inject a fault into the run under way.",
    },
    "Bring your own": {
        "check": "Check a plugin of your own: its messages, its descent, its bits on real nodes, what it survives.",
        "data": "List data sets, or prepare one for use.",
    },
}
"""In the order of the help. Each verb is a function of the same name in a file of the same name; what it does, in a
sentence."""
VERBS = {name: words for verbs in GROUPS.values() for name, words in verbs.items()}


class Verbs(TyperGroup):
    """Knows all verbs by name, and loads one at a time."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name) for name in VERBS}  # what a typing mistake is compared with

    def list_commands(self, ctx: object) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:
        """One of them; from now on Ctrl-C is the verb's own business."""
        if cmd_name not in VERBS:
            return None
        module = import_module(f"orchestrator.cli.{cmd_name}")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(getattr(module, cmd_name))
        command = typer.main.get_command(alone)
        assert isinstance(command, TyperCommand)
        raise_at_interrupt()
        return command

    def format_commands(self, ctx: object, formatter: Any) -> None:
        """Without loading any."""
        widest = max(map(len, VERBS))
        for heading, verbs in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), words) for name, words in verbs.items()])
