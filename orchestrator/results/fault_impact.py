"""What a fault did: the rounds and waits in its window, the curves around it, the graph that was left.

What cannot be said is None.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orchestrator.experiment.faults import LiveGraph, active, live_graph
from orchestrator.results.fault_axes import FaultAxes
from orchestrator.results.fault_history import PlannedFault, named
from orchestrator.results.files import finite
from orchestrator.results.window_rounds import Range, Rounds, rounds_in_windows
from pame.fault_effects import CutEffect, FaultEvent, Plan, StoppingEffect
from pame.observe import Evaluation
from pame.topology import Topology

_MOMENTS = 8
_FEWEST_GRAPHS = 4
_GRAPH_WORK = 64 * 128**2
"""Live graphs are looked at until so much work is done: 64 of 128 nodes."""


@dataclass(frozen=True, slots=True)
class Dip:
    """One curve around a window: the last value before it, the largest in it, the first after it.

    `recovered` is how long after the end the curve was back at the value before, in the unit of the window.
    """

    before: float | None
    worst: float | None
    after: float | None
    recovered: float | None


@dataclass(frozen=True, slots=True)
class Live:
    """The worst moment of the graph in a window."""

    components: int
    spectral_gap: float | None


@dataclass(frozen=True, slots=True)
class Impact:
    """What one fault did; `span` is its window in its own unit, None if it never began or nobody knows."""

    spell: PlannedFault
    span: Range | None
    rounds: Rounds | None
    consensus: Dip
    objective: Dip
    live: Live | None


def impacts(
    spells: Sequence[PlannedFault],
    plan: Plan,
    course: FaultAxes,
    records: Path,
    points: Sequence[Evaluation],
    graph: Topology | None,
) -> list[Impact]:
    spans = [course.own(spell) for spell in spells]
    rounds = rounds_in_windows(records, [(spell.scale, span) for spell, span in zip(spells, spans, strict=True)])
    graphs = None if graph is None else _LiveGraphs(graph, plan)
    series = {unit: _series(points, unit) for unit in ("seconds", "iterations")}
    found = []
    for spell, span, counted in zip(spells, spans, rounds, strict=True):
        live = None if graphs is None or span is None else graphs.worst(spell)
        consensus, objective = (
            _dip(series[spell.scale], span, course.outlived(spell), figure) for figure in ("consensus", "objective")
        )
        found.append(Impact(spell, span, counted, consensus, objective, live))
    return found


def _series(points: Sequence[Evaluation], unit: str) -> list[tuple[float, Evaluation]]:
    """Moments and points, ascending: by time for seconds, by iteration for iterations unless that curve broke off."""
    by_iteration, by_time = (
        [
            (moment, point)
            for point in points
            if (point.by == "iteration") is wanted and (moment := _moment(point, unit)) is not None
        ]
        for wanted in (True, False)
    )
    if unit == "seconds":
        chosen = by_time or by_iteration
    else:
        chosen = max(by_iteration, by_time, key=lambda some: max((moment for moment, _ in some), default=-1.0))
    return sorted(chosen, key=lambda pair: pair[0])


def _moment(point: Evaluation, unit: str) -> float | None:
    return point.seconds if unit == "seconds" else point.iteration


def _dip(series: Iterable[tuple[float, Evaluation]], span: Range | None, outlived: bool, figure: str) -> Dip:
    known = [(moment, y) for moment, point in series if (y := finite(getattr(point, figure))) is not None]
    return dip_of(known, span, outlived)


def dip_of(known: Sequence[tuple[float, float]], span: Range | None, outlived: bool) -> Dip:
    """Of a curve by moments, ascending; `outlived`: whether the run went on after the window."""
    if span is None:
        return Dip(None, None, None, None)
    begin, end = span
    before = next((y for moment, y in reversed(known) if moment <= begin), None)
    worst = max((y for moment, y in known if begin <= moment <= end), default=None)
    later = [(moment, y) for moment, y in known if moment >= end] if outlived else []
    back = next((moment - end for moment, y in later if before is not None and y <= before), None)
    return Dip(before, worst, later[0][1] if later else None, back)


class _LiveGraphs:
    """Live graphs, each looked at once, and no more of them than a report has time for."""

    def __init__(self, graph: Topology, plan: Plan) -> None:
        self._graph = graph
        cutting = [event for event in plan if isinstance(event.effect, CutEffect | StoppingEffect)]
        self._cutting = [event for event in cutting if self._has(event)]
        self._known: dict[tuple[int, ...], LiveGraph] = {}
        self._most = max(_GRAPH_WORK // max(graph.nodes, 1) ** 2, _FEWEST_GRAPHS)

    def worst(self, spell: PlannedFault) -> Live | None:
        """The most components and the smallest gap at some beginnings in a window, its own and others'."""
        cutting = self._cutting
        moments = _moments(spell, cutting) if all(map(self._has, spell.events)) else ()
        seen = [live for moment in moments if (live := self._at(active(cutting, moment, spell.unit)))]
        if not seen:
            return None
        gaps = [live.spectral_gap for live in seen if live.spectral_gap is not None]
        return Live(max(live.components for live in seen), min(gaps, default=None))

    def _has(self, event: FaultEvent) -> bool:
        """Whether all nodes that it names are there."""
        return named(event)[-1] < self._graph.nodes

    def _at(self, now: tuple[FaultEvent, ...]) -> LiveGraph | None:
        key = tuple(map(id, now))  # of events that the plan keeps; to hash all their links takes longer than to look
        if key not in self._known and len(self._known) < self._most:
            self._known[key] = live_graph(self._graph, now)
        return self._known.get(key)


def _moments(spell: PlannedFault, cutting: Iterable[FaultEvent]) -> list[float]:
    begins = {event.window.begin for event in spell.events if event.window.unit == spell.unit}
    if len(spell.events) == 1:
        own = spell.events[0].window
        begins |= {e.window.begin for e in cutting if e.window.unit == own.unit and e.window.begin in own}
    ordered = sorted(begins)
    places = np.linspace(0, len(ordered) - 1, min(_MOMENTS, len(ordered))).astype(int)
    return [ordered[place] for place in places]
