"""`pame check`: does a plugin keep to the seam? One line per look."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from contract.plugins import OFFERS, load_plugins
from orchestrator.cli.arguments import Overrides
from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.plugin_check.algorithm import look_at_algorithm
from orchestrator.cli.plugin_check.look import PluginLook
from orchestrator.cli.plugin_check.problem import look_at_problem
from orchestrator.cli.plugin_check.rehearsal import Rehearsal
from orchestrator.cli.plugin_check.surroundings import look_at_fault, look_at_topology
from orchestrator.experiment import ExperimentError
from orchestrator.experiment.overrides import parse_override
from orchestrator.experiment.plugins import add_plugins

_LOOKS: Mapping[str, tuple[str, Callable[[Rehearsal], Iterator[PluginLook]]]] = {
    "ALGORITHMS": ("algorithm", look_at_algorithm),
    "PROBLEMS": ("problem", look_at_problem),
    "TOPOLOGIES": ("topology", look_at_topology),
    "FAULTS": ("faults", look_at_fault),
}
"""By what a plugin offers: the section of the experiment, and what is looked at."""


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The plugin: a Python file (docs/extending.md).")],
    overrides: Overrides = None,
) -> None:
    """Check what a plugin offers in small runs of four nodes, simulated and real. A failed look exits with 2."""
    add_plugins([file])
    module = next(one for one in load_plugins() if one.__file__ and Path(one.__file__) == file.resolve())
    try:
        parsed = tuple(map(parse_override, overrides or ()))
    except ValueError as error:
        raise ExperimentError([str(error)]) from None
    console = Console(highlight=False, soft_wrap=True)
    looks = []
    for section, spec, at in _offered(module):
        console.print(f"[bold]{section} {escape(spec.kind)}[/]")
        own = {"kind": spec.kind}
        rehearsal = Rehearsal(file, {section: [own] if section == "faults" else own}, parsed)
        looks += _told(at(rehearsal), console)
    failed = sum(not one.is_right for one in looks)
    if not looks:
        console.print("it offers networks alone: run one, as docs/vision.md says")
    elif failed:
        console.print(f"[red]{failed} of {len(looks)} failed[/]")
    raise typer.Exit(ExitCode.USAGE if failed else ExitCode.DONE)


def _offered(module: ModuleType) -> Iterator[tuple[str, Any, Callable[[Rehearsal], Iterator[PluginLook]]]]:
    for name in filter(_LOOKS.__contains__, OFFERS):
        section, at = _LOOKS[name]
        for spec in getattr(module, name, ()):
            yield section, spec, at


def _told(found: Iterable[PluginLook], console: Console) -> list[PluginLook]:
    looks = []
    for one in found:
        verdict = "[green]ok[/]    " if one.is_right else "[red]failed[/]"
        console.print(f"  {verdict} {one.what}: {escape(one.words)}")
        looks.append(one)
    return looks
