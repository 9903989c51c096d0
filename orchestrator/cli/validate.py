"""`pame validate`: is this experiment file right, and what would it run?"""

from pathlib import Path

from rich.console import Console

from orchestrator.algorithm_names import algorithm_name
from orchestrator.cli.arguments import ExperimentFile, Overrides, Seed, load_variants, say_notes, swept_words
from orchestrator.evaluation import require_room, said_of_room
from orchestrator.experiment.late_faults import late_faults
from orchestrator.experiment.resolve import choose_driver, make_setting, warnings
from orchestrator.results.class_counts import class_counts_of
from pame.simulator import check


def validate(file: ExperimentFile = None, seed: Seed = None, overrides: Overrides = None) -> None:
    """Check an experiment file without running it."""
    variants, base = load_variants(file, overrides, seed)
    console = Console(soft_wrap=True, highlight=False)
    notes: dict[str, None] = {}
    rooms: dict[str, None] = {}
    partitions: dict[str, None] = {}
    for variant in variants:
        driver, setting = choose_driver(variant.experiment), make_setting(variant.experiment, base)
        check(driver, setting)
        notes |= dict.fromkeys(warnings(variant.experiment, setting, driver))
        notes |= dict.fromkeys(late_faults(variant.experiment, setting, driver))
        require_room(variant.experiment, setting.problem, driver, Path())
        rooms[said_of_room(variant.experiment, setting.problem, driver)] = None
        if counted := class_counts_of(setting.problem):
            partitions[counted.words] = None
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
    for words in partitions:
        console.print(f"data: {words}")
