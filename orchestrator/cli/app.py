"""The application: verbs, shell completion, and the one place that catches a user's mistakes."""

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from contract.versions import code_version
from orchestrator.cli.exit_codes import EPILOG, ExitCode
from orchestrator.cli.verbs import Verbs
from orchestrator.errors import MachineFault
from pame.errors import PameError

app = typer.Typer(
    name="pame",
    cls=Verbs,
    help="Does decentralized learning by partial message exchange survive a real network? Run it and see.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"pame {code_version()}")
        raise typer.Exit


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
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """What all verbs have in common."""
    from orchestrator.experiment.plugins import add_plugins

    add_plugins(plugin or ())


def call() -> None:
    """The verb of the command line, with its mistakes as exit codes."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is asked to end ends as by Ctrl-C
    try:
        _run()
    except MemoryError:
        errors.print("[red]error:[/] the experiment needs more memory than this machine has: make it smaller")
        sys.exit(ExitCode.USAGE)
    except PameError as error:
        for line in str(error).splitlines():
            errors.print("[red]error:[/]", escape(line))
        sys.exit(ExitCode.FAULT if isinstance(error, MachineFault) else ExitCode.USAGE)
    finally:
        signal.signal(signal.SIGTERM, before)


def _run() -> None:
    """`naming_plugins` needs the registries, and so numpy: it is asked only when something went wrong."""
    try:
        app()
    except PameError:
        raise
    except Exception:
        from contract.unexpected_errors import naming_plugins

        with naming_plugins():
            raise
