"""The application: verbs, shell completion, and the one place that catches a user's mistakes."""

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from contract.unexpected_errors import naming_plugins
from orchestrator.cli.claims import claims
from orchestrator.cli.compare import compare
from orchestrator.cli.doctor import doctor
from orchestrator.cli.exit_codes import EPILOG, ExitCode
from orchestrator.cli.fault import fault
from orchestrator.cli.links import links
from orchestrator.cli.nodes import nodes
from orchestrator.cli.replay import replay
from orchestrator.cli.report import report
from orchestrator.cli.run import run
from orchestrator.cli.runs import runs
from orchestrator.cli.schema import schema
from orchestrator.cli.serve import serve
from orchestrator.cli.study import study
from orchestrator.cli.topology import topology
from orchestrator.cli.validate import validate
from orchestrator.cli.verify import verify
from orchestrator.cli.watch import watch
from orchestrator.errors import MachineFault
from orchestrator.plugins import add_plugins
from pame.errors import PameError

app = typer.Typer(
    name="pame",
    help="Does decentralized learning by partial message exchange survive a real network? Run it and see.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verb in (
    run,
    compare,
    study,
    claims,
    replay,
    validate,
    topology,
    links,
    verify,
    schema,
    runs,
    report,
    serve,
    nodes,
    watch,
    fault,
    doctor,
):
    app.command()(verb)


@app.callback()
def common(
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin",
            metavar="FILE",
            help="A Python file with algorithms, problems, topologies or faults of your own; before the verb, "
            "repeatable (or PAME_PLUGINS).",
        ),
    ] = None,
) -> None:
    """What all verbs have in common."""
    add_plugins(plugin or ())


def main() -> None:
    """The entry point."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is asked to end ends as by Ctrl-C
    try:
        with naming_plugins():
            app()
    except MemoryError:
        errors.print("[red]error:[/] the experiment needs more memory than this machine has: make it smaller")
        sys.exit(ExitCode.USAGE)
    except PameError as error:
        for line in str(error).splitlines():
            errors.print("[red]error:[/]", escape(line))
        sys.exit(ExitCode.FAULT if isinstance(error, MachineFault) else ExitCode.USAGE)
    finally:
        signal.signal(signal.SIGTERM, before)
