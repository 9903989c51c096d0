"""Faults that begin after the likely end of the run: said before it begins, because then they do not happen.

A rough estimate, rather too long than too short:

    iterations * step (of a slow node, if nobody goes on without it) + rounds * (delay + jitter + message / rate)
    + what the faults before it hold up
"""

from math import inf, isfinite

from orchestrator.experiment import Experiment
from orchestrator.experiment.faults import kind_of
from orchestrator.number_words import duration
from pame.fault_effects import FaultEvent, Plan, SlowEffect
from pame.resolved_run import ResolvedRun


def late_faults(experiment: Experiment, setting: ResolvedRun, driver: str | None) -> list[str]:
    """A sentence for each fault whose first window begins too late; `driver` is None on a network."""
    firsts: dict[int, FaultEvent] = {}
    for event in sorted(setting.plan, key=lambda event: event.window.begin):
        firsts.setdefault(event.number, event)
    limit, likely = setting.stop, likely_seconds(experiment, setting, driver)
    found = []
    for number, event in sorted(firsts.items()):
        begin = event.window.begin
        if event.window.unit == "iterations":
            why = f"there are {limit.iterations} iterations" if begin >= limit.last_iteration else ""
            moment = f"iteration {begin:g}"
        else:
            moment = duration(begin) if begin else "0 s"
            why = f"the run ends after {duration(limit.limit_s)}" if begin >= limit.limit_s else ""
            if not why and begin >= likely:
                why = f"the run is likely to end after about {duration(float(f'{likely:.2g}'))} (an estimate)"
        if why:
            where = f"faults.{number}" if experiment.faults else f"plan: fault {number}"
            found.append(f"{where}: {kind_of(event)} at {moment} is too late to happen: {why}")
    return found


def likely_seconds(experiment: Experiment, setting: ResolvedRun, driver: str | None) -> float:
    """How long the iterations take; inf if nobody can say: without a time model, or without a limit of iterations."""
    is_timed = experiment.compute is not None or driver == "virtual-time"
    if not is_timed or setting.stop.by_seconds_alone:
        return inf
    iterations, compute = setting.stop.last_iteration, setting.compute
    waits = setting.exchange.waits
    slowest = compute.slowdown if waits and compute.stragglers else 1.0
    rounds = iterations / min(setting.periods) if waits else 0.0
    crossing = setting.slowest_crossing_s
    plain = iterations * compute.step_s * (1.0 + compute.jitter) * slowest + rounds * crossing
    return plain + _held_up(setting.plan, plain)


def _held_up(plan: Plan, plain: float) -> float:
    """By all that begins before that, one after the other; what never ends holds up nobody for ever."""
    more = 0.0
    for event in sorted(plan, key=lambda event: event.window.begin):
        window = event.window
        if window.unit == "seconds" and window.begin >= plain + more:
            continue
        length = window.lasts_s if window.lasts_s is not None else window.end - window.begin
        if window.unit == "iterations" and window.lasts_s is None:
            length = inf
        if isinstance(event.effect, SlowEffect):
            length = min(length, plain) * event.effect.factor
        more += length if isfinite(length) else 0.0
    return more
