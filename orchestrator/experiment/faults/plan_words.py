"""A plan for people: what is going on when, in a few words."""

from collections.abc import Sequence
from math import inf

from orchestrator.experiment.faults.interface import Unit
from orchestrator.experiment.units import DURATION, show_share
from orchestrator.number_words import listed_as
from pame.fault_effects import (
    ContainerKillEffect,
    ContainerRestartEffect,
    CpuQuotaEffect,
    CutEffect,
    DegradeEffect,
    DropEffect,
    Effect,
    FaultEvent,
    KillEffect,
    Link,
    PauseEffect,
    Plan,
    RestartEffect,
    SlowEffect,
    StoppingEffect,
)

_SHOWN = 6
_STOPPED: dict[type[StoppingEffect], str] = {
    PauseEffect: " paused",
    KillEffect: " killed",
    RestartEffect: " restarted",
    ContainerKillEffect: ": container killed",
    ContainerRestartEffect: ": container restarted",
}


def active(plan: Plan, moment: float, unit: Unit = "seconds") -> tuple[FaultEvent, ...]:
    """The events in whose window a moment lies; those in the other unit are left out."""
    return tuple(event for event in plan if event.window.unit == unit and moment in event.window)


def kind_of(event: FaultEvent) -> str:
    """The kind of the fault an event comes from."""
    return event.fault.split(maxsplit=1)[0] if event.fault.strip() else event.fault


def words(event: FaultEvent) -> str:
    """E.g. `links 0→1, 1→0 down`, or `partition halves: 0 1 2 | 3 4 5`."""
    return event.fault if ":" in event.fault else _words(event.effect)


def planned_words(event: FaultEvent) -> str:
    """With its window, e.g. `node 2 paused: from 3 to 8 seconds`."""
    window = event.window
    if window.lasts_s is not None:
        length = "until the run ends" if window.lasts_s == inf else f"for {window.lasts_s:g} seconds"
        return f"{words(event)}: from iteration {window.begin:g} {length}"
    end = "until the run ends" if window.end == inf else f"to {window.end:g} {window.unit}"
    begin = f"{window.begin:g}" if window.end != inf else f"{window.begin:g} {window.unit}"
    return f"{words(event)}: from {begin} {end}"


def _words(effect: Effect) -> str:
    match effect:
        case CutEffect(links):
            return f"{_links(links)} down"
        case DegradeEffect(links):
            return f"{_links(links)}: {', '.join(_worse(effect))}"
        case DropEffect(links, share):
            return f"{_links(links)}: {show_share(share)} of the messages lost"
        case CpuQuotaEffect(nodes, factor):
            return f"{_nodes(nodes)}: {1.0 / factor:.3g} of a core"
        case SlowEffect(nodes, factor):
            return f"{_nodes(nodes)} {factor:g} times slower"
    return f"{_nodes(effect.nodes)}{_STOPPED[type(effect)]}"


def _worse(effect: DegradeEffect) -> list[str]:
    found = []
    if effect.delay_factor != 1.0:
        found.append(f"delay times {effect.delay_factor:g}")
    if effect.delay_s:
        found.append(f"delay +{DURATION.show(effect.delay_s)}")
    if effect.jitter_s:
        found.append(f"jitter +{DURATION.show(effect.jitter_s)}")
    if effect.loss:
        found.append(f"{show_share(effect.loss)} of the packets lost")
    if effect.rate_factor != 1.0:
        found.append(f"rate times {effect.rate_factor:.3g}")
    return found or ["unchanged"]


def _links(links: Sequence[Link]) -> str:
    return listed_as("link", [f"{sender}→{receiver}" for sender, receiver in links], _SHOWN)


def _nodes(nodes: Sequence[int]) -> str:
    return listed_as("node", nodes, _SHOWN)
