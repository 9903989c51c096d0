"""`pame validate`: is this experiment file right, what would it run, and what would that take?"""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from orchestrator.algorithm_names import algorithm_name
from orchestrator.cli.arguments import ExperimentFile, Overrides, Seed, load_variants, say_notes, swept_words
from orchestrator.evaluation import require_room, said_of_room
from orchestrator.experiment import Variant
from orchestrator.experiment.estimate import RunEstimate, estimate_of
from orchestrator.experiment.faults.plan_words import when, words
from orchestrator.experiment.late_faults import late_faults
from orchestrator.experiment.resolve import choose_driver, make_setting, warnings
from orchestrator.number_words import count, duration, number, volume
from orchestrator.results.class_counts import class_counts_of
from pame.fault_effects import Plan
from pame.resolved_run import ResolvedRun
from pame.simulator import check

_MOST_ESTIMATES = 24
_MOST_EVENTS = 12


def validate(file: ExperimentFile = None, seed: Seed = None, overrides: Overrides = None) -> None:
    """Check an experiment without running it: what it does, when its faults strike, and what it will take."""
    variants, base = load_variants(file, overrides, seed)
    console = Console(soft_wrap=True, highlight=False)
    notes: dict[str, None] = {}
    rooms: dict[str, None] = {}
    partitions: dict[str, None] = {}
    settings: list[ResolvedRun] = []
    for variant in variants:
        driver = choose_driver(variant.experiment)
        with variant.places.told():
            setting = make_setting(variant.experiment, base)
            check(driver, setting)
        notes |= dict.fromkeys(warnings(variant.experiment, setting, driver))
        notes |= dict.fromkeys(late_faults(variant.experiment, setting, driver))
        require_room(variant.experiment, setting.problem, driver, Path())
        rooms[said_of_room(variant.experiment, setting.problem, driver)] = None
        if counted := class_counts_of(setting.problem):
            partitions[counted.words] = None
        if len(settings) < _MOST_ESTIMATES:
            settings.append(setting)
    for note in notes:
        console.print(f"[yellow]warning:[/] {note}")
    first = variants[0].experiment
    say_notes((note for variant in variants for note in variant.notes), console)
    for room in filter(None, rooms):
        console.print(room)
    runs = "one run" if len(variants) == 1 else swept_words(variants)
    console.print(
        f"[green]valid:[/] {first.name}, {runs}: {first.nodes} nodes, {first.topology.kind}, {first.problem.kind}, "
        f"{algorithm_name(first.algorithm.kind)}, driver {choose_driver(first)}"
    )
    for told in partitions:
        console.print(f"data: {told}")
    _say_expected(variants, settings, console)
    _say_plan(settings[0].plan, "" if len(variants) == 1 else " of the first run", console)


def _say_expected(variants: Sequence[Variant], settings: Sequence[ResolvedRun], console: Console) -> None:
    """Estimates, and said to be: of one run, or of all that are not too many."""
    if len(variants) > len(settings):
        settings = settings[:1]
    with console.status("estimating"):
        found = [
            estimate_of(variant.experiment, setting, choose_driver(variant.experiment))
            for variant, setting in zip(variants, settings, strict=False)
        ]
    whose = "" if len(found) == len(variants) else f", each of the {number(len(variants))} runs"
    several = f" for {count(len(found), 'run')}, one after the other" if len(found) > 1 else whose
    parts = [words for words in (_time_words(found), _volume_words(found)) if words]
    if parts:
        console.print(f"expected (an estimate){several}: {'; '.join(parts)}")


def _time_words(found: Sequence[RunEstimate]) -> str:
    seconds = [one.seconds for one in found if one.seconds is not None]
    if len(seconds) < len(found):
        return "how long it takes, nobody can say: give it compute.step or stop.seconds"
    about = duration(_roughly(sum(seconds)))
    if all(one.is_timed for one in found):
        return f"up to about {about} by its own clock"
    return f"about {about} on this machine, if it is idle (it has no time model: a step takes what it takes)"


def _volume_words(found: Sequence[RunEstimate]) -> str:
    sizes = [(one.bytes, one.messages) for one in found if one.bytes is not None and one.messages is not None]
    if len(sizes) < len(found):
        return ""
    messages, payload = sum(messages for _, messages in sizes), sum(size for size, _ in sizes)
    return f"about {volume(_roughly(payload))} of payload in {number(_roughly(messages))} messages"


def _roughly(value: float) -> float:
    return float(f"{value:.2g}")


def _say_plan(plan: Plan, whose: str, console: Console) -> None:
    """What is done when, in words, in the order of time; by iterations and by the clock apart."""
    if not plan:
        return
    events = sorted(plan, key=lambda event: (event.window.unit, event.window.begin, event.window.end))
    console.print(f"faults{whose}:")
    for event in events[:_MOST_EVENTS]:
        console.print(f"  {when(event)}: {escape(words(event))}")
    if len(events) > _MOST_EVENTS:
        console.print(f"  and {len(events) - _MOST_EVENTS} more")
