"""`pame run`: run an experiment, or a sweep, and leave a run folder with a report."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.backends import BACKENDS, DEFAULT_BACKEND
from orchestrator.backends.run_host import RunHost
from orchestrator.campaigns.sweep import SweepCampaign, make_sweep, newest
from orchestrator.cli.arguments import ExperimentFile, Overrides, Seed, say_notes, swept_words
from orchestrator.cli.campaign import Beginning, Quiet, Resume, begin, carry_out, nodes_of, say_report
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.live_page import NoPage, Stay, go_on, live_page
from orchestrator.cli.remote import Security, Token, client_of, headline, run_on, say_health, say_steps
from orchestrator.cli.run_exit_codes import exit_code, worst
from orchestrator.cli.terminal import RunScreen, shown
from orchestrator.cli.verified import say_verified
from orchestrator.control.submission_queue import QueuedExperiment
from orchestrator.evaluation import require_room, said_of_room
from orchestrator.experiment import Experiment, Variant
from orchestrator.experiment.late_faults import late_faults
from orchestrator.experiment.resolve import choose_driver, has_faults, is_judged_after, make_setting
from orchestrator.number_words import count, duration, is_share, number, of_metric, percent, reach_of_metric, volume
from orchestrator.results import Ending, Status, create_folder
from orchestrator.results.network_summary import NetworkSummary
from orchestrator.results.summary import RunSummary, require_summary

if TYPE_CHECKING:
    from orchestrator.live import ShownCommand

_ELSEWHERE = "--on runs it where that orchestrator is: leave --backend and --out out"


def run(
    ctx: typer.Context,
    file: ExperimentFile = None,
    backend: Annotated[
        str | None, typer.Option(help=f"Where the nodes run: {', '.join(BACKENDS)}.", show_default=DEFAULT_BACKEND)
    ] = None,
    seed: Seed = None,
    overrides: Overrides = None,
    quiet: Quiet = False,
    out: Annotated[
        Path | None, typer.Option(help="Where run folders go.", file_okay=False, show_default="runs")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Submit it to an orchestrator (`pame serve`) and its nodes instead (or PAME_ON).",
        ),
    ] = None,
    token: Token = "",
    security: Security = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Do not begin if a link is not measured to be as asked.")
    ] = False,
    resume: Resume = None,
    no_page: NoPage = False,
    stay: Stay = False,
) -> None:
    """Run an experiment file; lists in it make a sweep."""
    if on is None and not (backend or out or resume):  # what is said here goes before what lies around
        on = os.environ.get("PAME_ON")
    given = {"file": file, "backend": backend, "seed": seed, "overrides": overrides, "strict": strict, "on": on}
    beginning = begin(ctx, "run", given, resume)
    on = beginning.arguments["on"]
    if on is not None and beginning.arguments["backend"]:
        raise typer.BadParameter(_ELSEWHERE)
    sweep = make_sweep(beginning.arguments)
    variants, base = list(sweep.variants), sweep.path.parent
    console = Console(quiet=quiet, highlight=False)
    say_notes((note for variant in variants for note in variant.notes), console)
    if on is not None and len(variants) == 1:
        if out is not None:
            raise typer.BadParameter(_ELSEWHERE)
        raise typer.Exit(run_on(client_of(on, token, security), variants[0].experiment, base, console))
    folders = out or Path("runs")
    with live_page(console, not no_page, on, folders, sweep.backend) as page:
        if len(variants) > 1:
            code = _run_sweep(sweep, beginning, token, security, folders, console, page)
        else:
            code, _ = run_here(variants[0], base, sweep.backend, folders, console, page)
        run_submitted(page, stay, code, sweep.backend, folders, console)
    raise typer.Exit(code)


def run_here(
    variant: Variant, base: Path, backend: str, out: Path, console: Console, host: RunHost | None = None
) -> tuple[int, Path]:
    """Run on this machine; the exit code, and the run folder."""
    _look_at([variant], base, backend, out, console)
    folder = create_folder(out, variant.experiment.name)
    ending = _run_single(variant, base, folder, backend, console, host)
    _say_trouble([ending])
    say_report(folder, console)
    return exit_code(ending.status, ending.health), folder


def run_submitted(
    page: "ShownCommand | None", stays: bool, code: int, backend: str, out: Path, console: Console
) -> None:
    """What somebody submitted on the page of a command, after its own work, which ended with this exit code."""

    def begin(queued: QueuedExperiment) -> int:
        base = queued.files if isinstance(queued.files, Path) else out
        return run_here(Variant({}, queued.experiment), base, backend, out, console, page)[0]

    go_on(page, stays, code == ExitCode.INTERRUPTED, begin, console)


def _run_sweep(
    sweep: SweepCampaign,
    beginning: Beginning,
    token: str,
    security: Path | None,
    out: Path,
    console: Console,
    page: "ShownCommand | None",
) -> int:
    _look_at(sweep.variants, sweep.path.parent, sweep.backend, out, console)
    nodes = nodes_of(sweep.backend, beginning, token, security, lambda: sweep.nodes, console)
    console.print(f"[bold]{sweep.name}[/]: {escape(swept_words(sweep.variants))}")
    say_steps((variant.experiment for variant in sweep.variants), console)
    outcome, folder = carry_out(sweep, beginning, nodes, out, console, newest, page)
    for sentence in dict.fromkeys(run.figures.get("faults") for run in outcome.runs):
        if sentence:
            console.print(f"[yellow]warning:[/] {escape(sentence)}", soft_wrap=True)
    _say_trouble(outcome.endings)
    say_report(folder, console)
    return worst(exit_code(ending.status, ending.health) for ending in outcome.endings)


def _look_at(variants: Sequence[Variant], base: Path, backend: str, out: Path, console: Console) -> None:
    """Refuse what cannot run before anything is begun, and say what will probably not happen."""
    experiments, late = [variant.experiment for variant in variants], []
    with console.status("looking at the experiment"):
        for experiment in experiments if backend in BACKENDS else ():
            BACKENDS[backend].check(experiment, base)
        rooms = _rooms(experiments, base, backend, out)
        for experiment in filter(has_faults, experiments):
            driver = choose_driver(experiment) if backend == "simulate" else None
            late += late_faults(experiment, make_setting(experiment, base), driver)
    for room in rooms:
        console.print(room, soft_wrap=True)
    for sentence in dict.fromkeys(late):
        console.print(f"[yellow]warning:[/] {escape(sentence)}", soft_wrap=True)


def _rooms(experiments: Sequence[Experiment], base: Path, backend: str, out: Path) -> dict[str, None]:
    """What models take until they are evaluated after the run, refused if it does not fit; each sentence once."""
    found: dict[str, None] = {}
    for experiment in filter(is_judged_after, experiments):
        problem = make_setting(experiment, base).problem
        driver = choose_driver(experiment) if backend == "simulate" else None
        require_room(experiment, problem, driver, out)
        found[said_of_room(experiment, problem, driver)] = None
    return found


def _run_single(
    variant: Variant, base: Path, folder: Path, backend: str, console: Console, host: RunHost | None
) -> Ending:
    experiment = variant.experiment
    driver = f" ({choose_driver(experiment)})" if backend == "simulate" else ""
    console.print(f"{headline(experiment)}, backend {backend}{driver}")
    say_steps([experiment], console)
    with shown(console) as live:
        screen = RunScreen(experiment.name, experiment.nodes, experiment.stop, live)
        ending = BACKENDS[backend].run(experiment, base, folder, screen, variant.notes, host)
    _say_summary(require_summary(folder), console)
    return ending


def _say_summary(summary: RunSummary, console: Console) -> None:
    final, bits, network, least = summary.final, summary.message_bits, summary.network, summary.least
    for warning in summary.warnings:
        console.print(f"[yellow]warning:[/] {escape(warning)}", soft_wrap=True)
    if summary.left_to_judge:
        console.print(f"[yellow]not evaluated:[/] {escape(summary.left_to_judge)}", soft_wrap=True)
    if summary.status == Status.INTERRUPTED.value:
        console.print(f"[yellow]interrupted[/] at iteration {summary.iterations}; what there is, is kept")
    if summary.status != Status.FINISHED.value or final.objective is None:
        return
    above = "" if least is None else f", {number(final.objective - least)} above the optimum"
    name = summary.metric or ""
    figures = [f"f(mean model) {number(final.objective)}{above}", _metric_words(summary, name)]
    health = f" ({summary.health_word})" if summary.health else ""
    console.print(f"{summary.reason}{health}: {'; '.join(figures[::-1] if is_share(name) else figures)}")
    wire = network.wire if network else None
    on_wire = f", {volume(wire.model.get('total'))} on the wire" if wire else ""
    sent = f"sent {volume(summary.bytes.total)} of payload{on_wire}, in {number(summary.messages.sent)} messages"
    share = f", {percent(bits.sent / bits.dense)} of whole models" if bits.sent and bits.dense else ""
    kind = "simulated" if summary.driver else "of running"
    clock = "" if summary.seconds is None else f"; {duration(summary.seconds)} {kind}"
    console.print(f"{sent}{share}{clock}; {duration(summary.wall_seconds)} on this machine")
    if network:
        _say_network(network, console)
    if (late := summary.evaluation) is not None:
        took = f"{duration(late.seconds)}, {duration(late.cpu_s)} of CPU, {volume(late.bytes)} of models on the disk"
        console.print(f"evaluated {count(late.evaluated, 'point')} after the run: {took}")


def _metric_words(summary: RunSummary, name: str) -> str:
    """The headline metric of the mean model and, where it is a share of one, of the nodes."""
    own = summary.final.own
    mean = f"{name.replace('_', ' ')} {of_metric(name, summary.final.metrics.get(name))}"
    if own is None or not is_share(name) or name not in own.metrics:
        return mean
    reach = reach_of_metric(name, own.lowest.get(name), own.highest.get(name))
    return f"{mean}, of the nodes {of_metric(name, own.metrics[name])} ({reach})"


def _say_network(network: NetworkSummary, console: Console) -> None:
    wire, cost = network.wire, network.evaluation
    say_verified(network.verified, console)
    if wire is not None:
        counted = wire.ratios.total
        seen = "ss: not measured" if counted is None else f"ss counted {percent(counted)} of that"
        console.print(f"on the wire: by a model of all headers and receipts; {seen}")
    if cost is not None:
        took = "" if cost.seconds is None else f"{duration(cost.seconds)}, "
        took = f"evaluation took {took}{duration(cost.cpu_s)} of CPU, {volume(cost.bytes)} of snapshots"
        console.print(took + ("; [red]cpu-bound[/]" if network.cpu_bound else ""))


def _say_trouble(endings: Sequence[Ending]) -> None:
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    reasons = [ending.reason for ending in endings if ending.status is Status.DIVERGED]
    failures = [ending.reason for ending in endings if ending.status is Status.FAILED]
    for reason in dict.fromkeys(reasons + failures):
        errors.print("[red]error:[/]", escape(reason))
    finished = [ending for ending in endings if ending.status is Status.FINISHED]  # what failed has said why
    for health in {ending.health.reason: ending.health for ending in finished if ending.health}.values():
        say_health(health)
    if len(endings) > 1 and reasons:
        errors.print(f"[red]error:[/] {len(reasons)} of {len(endings)} runs diverged; all run folders are kept")
