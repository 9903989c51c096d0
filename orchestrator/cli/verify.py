"""`pame verify`: measure the links of an experiment where it would run, and say what they are."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.backends import BACKENDS, DEFAULT_BACKEND
from orchestrator.cli.arguments import ExperimentFile, Overrides, Seed, load_variants
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.remote import Security, Token, client_of, run_on
from orchestrator.cli.run import run_here
from orchestrator.cli.verified import say_verified, verification_table
from orchestrator.errors import UnknownBackend
from orchestrator.results.summary import require_summary
from pame.errors import ParameterError

_ROWS = 40
_ALL = 10**9


def verify(
    file: ExperimentFile = None,
    backend: Annotated[str, typer.Option(help="Where the nodes run: local or netns.")] = DEFAULT_BACKEND,
    seed: Seed = None,
    overrides: Overrides = None,
    strict: Annotated[bool, typer.Option("--strict", help="A link that is not as asked is an error.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show every row.")] = False,
    out: Annotated[Path, typer.Option(help="Where run folders go.", file_okay=False)] = Path("runs"),
    on: Annotated[
        str | None, typer.Option(envvar="PAME_ON", metavar="HOST:PORT", help="On that orchestrator's nodes instead.")
    ] = None,
    token: Token = "",
    security: Security = None,
) -> None:
    """Measure every link of an experiment; of a sweep, the first run's."""
    if backend not in BACKENDS:
        raise UnknownBackend(f"there is no backend {backend!r}; use local or netns")
    if backend == "simulate":
        raise ParameterError("simulated links are as asked by construction: verify them on local or netns")
    measure = ["verify.when=only", *(["verify.strict=true"] if strict else [])]
    variants, base = load_variants(file, [*(overrides or []), *measure], seed)
    console = Console(highlight=False)
    if on is not None:
        raise typer.Exit(run_on(client_of(on, token, security), variants[0].experiment, base, console))
    code, folder = run_here(variants[0], base, backend, out, console)
    network = require_summary(folder).network
    verified = network.verified if network else None
    if verified is not None:
        verification_table(verified, console, _ALL if everything else _ROWS)
        say_verified(verified, console)
    elif code == ExitCode.DONE:
        console.print("this experiment asks nothing of its links: nothing to measure")
    raise typer.Exit(code)
