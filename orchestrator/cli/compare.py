"""`pame compare`: several algorithms on one experiment, tuned alike: who needs the fewest rounds, bytes, seconds."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import count as numbers
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.backends import BACKENDS
from orchestrator.backends.standing_network import NETWORKS
from orchestrator.campaigns.compare import Comparison, load_comparison
from orchestrator.campaigns.compare.conduct import CompareOrder, conduct_comparison
from orchestrator.campaigns.compare.grid import (
    CompareCell,
    CompareView,
    contestants,
    experiment_of,
    left_out,
    tried,
    tuning_cells,
    views,
)
from orchestrator.campaigns.compare.outcome import CompareOutcome
from orchestrator.campaigns.compare.report import degraded_runs, doubts_of
from orchestrator.campaigns.compare.run import SIMULATE
from orchestrator.campaigns.compare.screen import CompareScreen, result_table
from orchestrator.campaigns.compare.tables import company_line
from orchestrator.campaigns.compare.verdict import CompareFinding, findings
from orchestrator.cli.arguments import say_notes
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.tables import print_table
from orchestrator.cli.terminal import shown
from orchestrator.errors import UnknownBackend
from orchestrator.number_words import count, duration
from orchestrator.results import create_folder

_QUICK_TRIALS = 2


def compare(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The comparison (YAML); see docs/compare.md.")],
    backend: Annotated[
        str, typer.Option(help=f"Where the tuned algorithms run: {SIMULATE}, {', '.join(NETWORKS)}.")
    ] = SIMULATE,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=100, help="How many seeds to compare on.", show_default="as in the file")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One seed, and two settings tried: a look.")] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a setting of its base, e.g. nodes=64; repeatable."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where its folder goes.", file_okay=False)] = Path("runs"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the folder.")] = False,
) -> None:
    """Compare algorithms: tuned alike in the simulator, then measured on fresh seeds, with a table and a report."""
    if backend not in (*NETWORKS, SIMULATE):
        raise UnknownBackend(f"a comparison runs on {SIMULATE}, {' or '.join(NETWORKS)}, not on {backend!r}")
    comparison = _sized(load_comparison(file, overrides or ()), seeds, quick)
    console = Console(quiet=quiet, highlight=False)
    with console.status("looking at the experiments"):
        _check(comparison, backend)
    folder = create_folder(out, comparison.name)
    order = CompareOrder(comparison, backend, folder, _command(file, backend, seeds, quick, overrides or []))
    _announce(comparison, console)
    with shown(console) as live:
        outcome = conduct_comparison(order, CompareScreen(comparison, backend != SIMULATE, live))
    _say(outcome, console)
    console.print(f"report: [bold]{escape(str(folder / 'report.html'))}[/]", soft_wrap=True)
    if quiet:
        typer.echo(folder)
    raise typer.Exit(ExitCode.INTERRUPTED if outcome.trouble else ExitCode.DONE)


def _sized(comparison: Comparison, seeds: int | None, quick: bool) -> Comparison:
    """With so many seeds: those of the file first, then the smallest others."""
    wanted = seeds or (1 if quick else len(comparison.seeds))
    taken = {*comparison.seeds, comparison.tuning.seed}
    more = (number for number in numbers(1) if number not in taken)
    chosen = [*comparison.seeds, *islice(more, max(0, wanted - len(comparison.seeds)))][:wanted]
    tuning = comparison.tuning
    if quick:
        tuning = tuning.model_copy(update={"runs": min(_QUICK_TRIALS, tuning.runs), "more": 0})
    return replace(comparison, seeds=tuple(chosen), tuning=tuning)


def _check(comparison: Comparison, backend: str) -> None:
    """Refuse what cannot be run before anything is begun: every setting is read, one of each algorithm is built."""
    for name, entry in comparison.entries.items():
        for key, values in entry.tune.items():
            for value in values:
                experiment_of(
                    comparison, CompareCell(name, CompareView.AS_PUBLISHED, ((key, value),), comparison.seeds[0])
                )
    for view in views(comparison):
        for algorithm in contestants(comparison, view):
            cell = CompareCell(algorithm, view, tried(comparison, algorithm)[0], comparison.seeds[0])
            for place in dict.fromkeys((SIMULATE, backend)):
                BACKENDS[place].check(experiment_of(comparison, cell), comparison.folder)


def _announce(comparison: Comparison, console: Console) -> None:
    say_notes(comparison.notes, console)
    runs = sum(len(contestants(comparison, view)) for view in views(comparison)) * len(comparison.seeds)
    tuning = count(len(tuning_cells(comparison)), "tuning run")
    names = ", ".join(comparison.entries)
    console.print(f"[bold]{comparison.name}[/]: {names}; {tuning}, then {count(runs, 'run')} on fresh seeds")
    for words in left_out(comparison).values():
        console.print(words, soft_wrap=True)


def _command(file: Path, backend: str, seeds: int | None, quick: bool, overrides: list[str]) -> str:
    words = ["pame", "compare", str(file), "--backend", backend]
    words += ["--seeds", str(seeds)] if seeds else []
    words += ["--quick"] if quick else []
    return shlex.join([*words, *(word for setting in overrides for word in ("--set", setting))])


def _say_fewest(found: Sequence[CompareFinding], console: Console) -> None:
    """A line per target."""
    for words in dict.fromkeys(finding.goal.words for finding in found):
        mine = [finding for finding in found if finding.goal.words == words]
        names = (f"{finding.measure.words} [bold]{escape(finding.who)}[/]" for finding in mine)
        free = " (no communication gets there, too)" if mine[0].is_free else ""
        console.print(f"  fewest to {words}: {', '.join(names)}{free}", soft_wrap=True)


def _say(outcome: CompareOutcome, console: Console) -> None:
    """The tables, who needs the fewest, and what is doubtful."""
    if outcome.rows:
        for view in views(outcome.comparison):
            print_table(result_table(outcome, view), console)
            console.print(f"  {company_line(outcome, view)}", soft_wrap=True, highlight=False)
            _say_fewest([found for found in findings(outcome) if found.view == view], console)
    for doubt in doubts_of(outcome):
        console.print(f"[yellow]look again:[/] {escape(doubt)}", soft_wrap=True)
    if words := degraded_runs(outcome):
        console.print(f"[yellow]degraded:[/] {escape(words)}", soft_wrap=True)
    if outcome.trouble:
        console.print(f"[yellow]not complete:[/] {escape(outcome.trouble)}", soft_wrap=True)
    console.print(f"{duration(float(f'{outcome.seconds:.3g}'))} on this machine")
