"""A fault that somebody types while a run is under way."""

from dataclasses import replace
from math import inf
from pathlib import Path

from orchestrator.experiment import Experiment, ExperimentError, load_data
from orchestrator.experiment.faults.compile import compile_plan, idle_faults
from orchestrator.experiment.faults.interface import FaultError, Horizon
from orchestrator.experiment.link_table import link_table
from orchestrator.experiment.text import UnreadableText, parse
from pame.fault_effects import FaultEvent
from pame.resolved_run import ResolvedRun

_EXAMPLE = "write it as in an experiment, e.g. {kind: pause, nodes: [2], for: 5s}"
_SOON_S = 0.2
"""Everybody has to hear of it first."""


def fault_by_hand(
    text: str, experiment: Experiment, setting: ResolvedRun, now: float, number: int
) -> tuple[FaultEvent, ...]:
    """Compiled for a run that has been going on for `now` seconds; `number`: its place after the planned ones."""
    try:
        entry = parse(text)
    except UnreadableText as error:
        raise FaultError(f"this {error}; {_EXAMPLE}") from None
    if not isinstance(entry, dict):
        raise FaultError(f"this is no fault; {_EXAMPLE}")
    entry.setdefault("at", f"{now + _SOON_S:.3f}s")
    stop = experiment.stop
    horizon = Horizon(
        now + 3600.0 if stop.seconds is None else stop.seconds, inf if stop.iterations is None else stop.iterations
    )
    regions = link_table(experiment.links, setting.topology, setting.seed).regions or None
    try:
        [variant] = load_data({"nodes": experiment.nodes, "faults": [entry]}, Path("fault"), ())
        plan = compile_plan(variant.experiment.faults or [], setting.topology, regions, setting.seed + number, horizon)
    except (ExperimentError, FaultError) as error:
        raise FaultError(str(error).removeprefix("fault: ").replace("faults.0", "fault", 1)) from None
    added = tuple(replace(event, number=number) for event in plan)
    _refuse_too_late(added, stop.limit_s, horizon.iterations)
    idle = idle_faults((*setting.plan, *added), setting.conditions.link_between)
    if number in idle:
        raise FaultError(f"fault: {idle[number]}")
    return added


def _refuse_too_late(plan: tuple[FaultEvent, ...], seconds: float, iterations: float) -> None:
    ends = {"seconds": seconds, "iterations": iterations}
    if plan and all(event.window.begin >= ends[event.window.unit] for event in plan):
        at = plan[0].window
        end = f"{ends[at.unit]:g} {at.unit}"
        raise FaultError(
            f"fault.at: {at.begin:g} {at.unit} is too late: the run ends after {end}; choose an earlier one"
        )
