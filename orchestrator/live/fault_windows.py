"""The plan of faults of a run, for the page: what is over, what goes on, what comes, and where it lies on each axis.

next      its window is still to come            missed    the run was over before it could begin
now       it goes on                             failed    nobody could carry it out
past      it is over
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import median
from typing import Any, Literal

import numpy as np

from orchestrator.experiment.faults.happened import Told
from orchestrator.results.events import EventWord
from orchestrator.results.fault_axes import FaultAxes
from orchestrator.results.fault_history import Faults, PlannedFault
from pame.fault_effects import (
    CutEffect,
    DegradeEffect,
    DropEffect,
    FaultEvent,
    Link,
    PauseEffect,
    Plan,
    SlowEffect,
)

Progress = Literal["next", "now", "past", "missed", "failed"]
Mark = Literal["cut", "lossy", "slow"]
_WORST: Sequence[Mark] = ("cut", "lossy", "slow")
_LATE_S = 2.0
"""A node that was to tell the end and did not within this time after it is not waited for."""


@dataclass(frozen=True)
class RunClock:
    """How far a run is."""

    seconds: float
    iterations: Sequence[int]
    """Of each node."""
    course: Sequence[Sequence[float]] = ()
    """Seconds, bytes and the median iteration so far, in order of time."""
    slowest: int = 0
    """Of the nodes that are there."""
    is_over: bool = False

    @property
    def iteration(self) -> float:
        return float(median(self.iterations)) if self.iterations else 0.0

    def axes(self) -> FaultAxes:
        points = [*self.course, *([] if self.is_over else [[self.seconds, *self._newest_bytes(), self.iteration]])]
        table = np.maximum.accumulate(np.array(points, np.float64).reshape(-1, 3), axis=0)
        seconds, sizes, iterations = table[:, 0], table[:, 1], table[:, 2]
        return FaultAxes(self.seconds, self.iteration, (seconds, iterations), (iterations, sizes))

    def _newest_bytes(self) -> list[float]:
        return [self.course[-1][1]] if self.course else [0.0]


@dataclass
class Disturbed:
    """What faults do at this moment."""

    links: dict[Link, Mark] = field(default_factory=dict)
    paused: set[int] = field(default_factory=set)
    slowed: set[int] = field(default_factory=set)


class FaultWindows:
    """Of one run; the plan is put together with what was told of it only when one of them has changed."""

    def __init__(self) -> None:
        self._known: tuple[int, int, int] | None = None
        self._faults = Faults((), 0, {}, {})

    def rows(
        self, plan: Plan, told: Sequence[Told], events: Iterable[Mapping[str, object]], clock: RunClock
    ) -> list[dict[str, Any]]:
        """In order of time; one per window, or per fault where these are many."""
        back = [event for event in events if event["what"] == EventWord.RESTARTED]
        if (known := (len(plan), len(told), len(back))) != self._known:
            self._known, self._faults = known, _put_together(plan, told, back)
        axes = clock.axes()
        rows = [_row(spell, clock, axes) for spell in self._faults.shown]
        return sorted(rows, key=lambda row: (row["begin"], row["number"]))


def disturbed_now(plan: Plan, told: Sequence[Told], clock: RunClock) -> Disturbed:
    """By the plan; of what stops a node at an iteration, by what the node has told."""
    found = Disturbed()
    for event in [] if clock.is_over else plan:
        match event.effect:
            case CutEffect(links) | DropEffect(links) | DegradeEffect(links):
                mark = _mark(event)
                for link in links:
                    if _acts(event, link[0], clock):
                        found.links[link] = min(mark, found.links.get(link, mark), key=_WORST.index)
            case SlowEffect(nodes):
                found.slowed.update(node for node in nodes if _acts(event, node, clock))
            case PauseEffect(nodes) if event.window.lasts_s is None:
                found.paused.update(node for node in nodes if _acts(event, node, clock))
            case PauseEffect():
                found.paused |= _held(event, told, clock.seconds)
    return found


def _mark(event: FaultEvent) -> Mark:
    match event.effect:
        case CutEffect():
            return "cut"
        case DropEffect():
            return "lossy"
        case DegradeEffect(_, factor, delay_s, jitter_s, _, rate):
            return "slow" if (factor, delay_s, jitter_s, rate) != (1.0, 0.0, 0.0, 1.0) else "lossy"
    raise TypeError(event.effect)


def _acts(event: FaultEvent, node: int, clock: RunClock) -> bool:
    """Whether the window is open for the node that carries it out."""
    return (clock.seconds if event.window.unit == "seconds" else clock.iterations[node]) in event.window


def _held(event: FaultEvent, told: Sequence[Told], now: float) -> set[int]:
    words = [word for word in told if word.number == event.number and word.planned == event.window.begin]
    over = {word.node for word in words if not word.begins}
    lasts = event.window.lasts_s or 0.0
    return {word.node for word in words if word.begins and not word.failure and now < word.seconds + lasts} - over


def _put_together(plan: Plan, told: Sequence[Told], back: Sequence[Mapping[str, Any]]) -> Faults:
    acts: dict[int, list[Told]] = defaultdict(list)
    for word in told:
        acts[word.number].append(word)
    returned: dict[int | None, list[float]] = defaultdict(list)
    for event in back:
        returned[event["node"]].append(event["seconds"])
    return Faults(tuple(plan), 0, dict(acts), dict(returned))


def _row(spell: PlannedFault, clock: RunClock, axes: FaultAxes) -> dict[str, Any]:
    acts, progress = spell.acts, _progress(spell, clock)
    reached = progress in ("now", "past")
    spans = (axes.in_seconds(spell), axes.in_iterations(spell), axes.in_bytes(spell)) if reached else (None,) * 3
    return {
        "number": spell.events[0].number,
        "kind": spell.fault,
        "words": spell.words,
        "windows": len(spell.events),
        "begin": spell.begin,
        "end": spell.end if isfinite(spell.end) else None,
        "unit": spell.unit,
        "lasts": spell.lasts_s if spell.lasts_s is None or isfinite(spell.lasts_s) else None,
        "state": progress,
        "begun": round(acts.begun[0], 3) if acts.begun else None,
        "why": "; ".join(acts.failures),
        "on": {
            axis: None if span is None else [round(end, 3) for end in span]
            for axis, span in zip(("seconds", "iteration", "bytes"), spans, strict=True)
        },
    }


def _progress(spell: PlannedFault, clock: RunClock) -> Progress:
    begun, ended = spell.acts.begun, spell.acts.ended
    if spell.acts.failures and not begun:
        return "failed"
    by_clock = spell.unit == "seconds"
    moment = clock.seconds if by_clock else clock.iteration
    if not begun and (moment < spell.begin or (spell.lasts_s is not None and not clock.is_over)):
        return "missed" if clock.is_over else "next"
    if clock.is_over or (len(spell.events) == 1 and begun and len(ended) >= len(begun)):
        return "past"
    if spell.lasts_s is not None:
        return "past" if begun and clock.seconds >= begun[-1] + spell.lasts_s + _LATE_S else "now"
    if not begun or len(spell.events) > 1:
        return "past" if moment >= spell.end else "now"
    is_past = clock.seconds >= spell.end + _LATE_S if by_clock else clock.slowest >= spell.end
    return "past" if is_past else "now"
