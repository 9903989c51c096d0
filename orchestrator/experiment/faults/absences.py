"""Who was kept from an event of a plan, because another event had taken the node away."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from pame.fault_effects import FaultEvent, KillEffect, Plan, RestartEffect, StoppingEffect

_TOGETHER_S = 0.5
"""What begins so soon before a node goes need not find it."""
_RETURN_S = 15.0
"""A node that was away needs so long, at the most, to take part again."""


@dataclass(frozen=True, slots=True)
class Absence:
    """An event stopped a node, or took it away, by the clock of the run."""

    event: FaultEvent
    since: float
    until: float


Absences = Mapping[int, Sequence[Absence]]
"""By node."""


def absences(plan: Plan, began: Callable[[FaultEvent, int], float | None]) -> Absences:
    """`began`: when a node went, as it said on a network; None if it did not."""
    found: dict[int, list[Absence]] = defaultdict(list)
    for event in plan:
        if isinstance(event.effect, StoppingEffect):
            lasts, end = event.window.lasts_s, event.window.end if event.window.unit == "seconds" else inf
            for node in event.acting:
                if (since := began(event, node)) is not None:
                    found[node].append(Absence(event, since, end if lasts is None else since + lasts))
    return found


def absences_by_clock(plan: Plan) -> Absences:
    """As planned, in the simulator; an order for somebody who is away finds nobody."""
    found: dict[int, list[Absence]] = defaultdict(list)
    orders = [e for e in plan if isinstance(e.effect, KillEffect | RestartEffect) and e.window.unit == "seconds"]
    for event in sorted(orders, key=lambda event: (event.window.begin, event.number)):
        for node in event.acting:
            if not found[node] or found[node][-1].until <= event.window.begin:
                found[node].append(Absence(event, event.window.begin, event.window.end))
    return found


def finds_nobody(event: FaultEvent, away: Sequence[Absence]) -> bool:
    """Whether a node of the simulator is away when it is struck or, by what is no order, all the time."""
    begin = event.window.begin
    over = begin if isinstance(event.effect, KillEffect | RestartEffect) else event.window.end
    return any(other.event is not event and other.since <= begin and over <= other.until for other in away)


def is_excused(event: FaultEvent, away: Sequence[Absence], run_s: float) -> bool:
    """Whether other events kept a node from this one: nobody expects it there."""
    if event.window.unit == "iterations":  # who was away goes on with the iteration of its neighbours
        return any(absence.event is not event for absence in away)
    others = [absence for absence in away if absence.event is not event]
    begin = back = event.window.begin
    for absence in sorted(others, key=lambda absence: absence.since):
        if absence.since <= back + _TOGETHER_S:
            back = max(back, absence.until + _RETURN_S)
    needed = begin if isinstance(event.effect, StoppingEffect) else min(event.window.end, run_s)
    return back > begin and needed <= back
