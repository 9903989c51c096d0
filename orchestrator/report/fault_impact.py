"""What a fault did: the rounds and waits in its window, the curves around it, the graph that was left.

records.csv is read as a stream; what cannot be said is None.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.experiment.faults import LiveGraph, active, live_graph
from orchestrator.report.fault_axes import FaultAxes, Range
from orchestrator.results.fault_history import PlannedFault
from orchestrator.results.files import finite
from orchestrator.results.struck import named
from orchestrator.results.tables import Floats, blocks
from pame.fault_effects import CutEffect, FaultEvent, KillEffect, PauseEffect, Plan, RestartEffect
from pame.observe import Evaluation
from pame.topology import Topology

_COLUMNS = ("node", "iteration", "seconds", "waited_s", "wanted", "received", "starved", "late")
_NEWER = ("lost", "staleness")
_MOMENTS = 8
_FEWEST_GRAPHS = 4
_GRAPH_WORK = 64 * 128**2
"""Live graphs are looked at until so much work is done: 64 of 128 nodes."""


@dataclass(frozen=True, slots=True)
class Ages:
    """How old the messages in averages were, in iterations: mean and largest in a window, and the mean outside it."""

    mean: float | None
    largest: float | None
    outside: float | None


@dataclass(frozen=True, slots=True)
class Rounds:
    """What the nodes recorded in a window; `waited_s` None: without a clock; `lost` and `ages` None: not recorded."""

    rounds: int
    starved: int
    short: int
    missing: int
    late: int
    waited_s: float | None
    lost: int | None = None
    ages: Ages | None = None


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
    """One per fault, in the order given."""
    spans = [course.own(spell) for spell in spells]
    rounds = _rounds(records, [(spell.scale, span) for spell, span in zip(spells, spans, strict=True)])
    lives = _lives(spells, plan, course, graph)
    found = []
    series = {unit: _series(points, unit) for unit in ("seconds", "iterations")}
    for spell, span, counted, live in zip(spells, spans, rounds, lives, strict=True):
        consensus, objective = (
            _dip(series[spell.scale], span, course.outlived(spell), value) for value in (_consensus, _objective)
        )
        found.append(Impact(spell, span, counted, consensus, objective, live))
    return found


@dataclass(slots=True)
class _Sum:
    """Of some numbers that are not negative; those that are NaN do not count."""

    count: int = 0
    total: float = 0.0
    largest: float = 0.0

    def add(self, values: Floats) -> None:
        known = values[np.isfinite(values)]
        self.count += known.size
        self.total += float(known.sum())
        self.largest = max(self.largest, float(known.max(initial=0.0)))

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass(slots=True)
class _Count:
    """Sums over the rows of one window; `rows` counts those of the whole file that have the unit of the window."""

    rows: int = 0
    timed: bool = False
    rounds: int = 0
    starved: int = 0
    short: int = 0
    missing: float = 0.0
    late: float = 0.0
    waited_s: float = 0.0
    counts_lost: bool = False
    lost: float = 0.0
    inside: _Sum = field(default_factory=_Sum)
    outside: _Sum = field(default_factory=_Sum)
    """Of the ages of averages."""

    def closed(self) -> Rounds | None:
        """The sums, or nothing if no row could be placed."""
        if not self.rows:
            return None
        waited = self.waited_s if self.timed else None
        lost = int(self.lost) if self.counts_lost else None
        ages = None
        if self.inside.count or self.outside.count:
            ages = Ages(self.inside.mean, self.inside.largest if self.inside.count else None, self.outside.mean)
        return Rounds(self.rounds, self.starved, self.short, int(self.missing), int(self.late), waited, lost, ages)


def _rounds(path: Path, windows: Sequence[tuple[str, Range | None]]) -> list[Rounds | None]:
    counts = [_Count() for _ in windows]
    for row in _timed_rows(path):
        for (unit, span), count in zip(windows, counts, strict=True):
            if span is not None:
                _add(count, row, unit, *span)
    return [count.closed() for count in counts]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Columns of some records, and when each node began and ended to wait."""

    iteration: Floats
    wanted: Floats
    received: Floats
    starved: NDArray[np.bool_]
    late: Floats
    waited_s: Floats
    """NaN: not measured."""
    began: Floats
    until: Floats
    lost: Floats
    """NaN: not recorded."""
    staleness: Floats
    """NaN: not recorded, or nothing averaged."""


def _timed_rows(path: Path) -> Iterator[_Rows]:
    """A wait begins when the iteration before it is done; after a gap (a restart) it is put at the row's own end."""
    last: dict[float, tuple[float, float]] = {}
    for block in blocks(path, _COLUMNS, _NEWER):
        order = np.argsort(block["node"], kind="stable")
        node, iteration, seconds, waited = (block[name][order] for name in _COLUMNS[:4])
        before, done = np.roll(iteration, 1), np.roll(seconds, 1)
        for first in np.flatnonzero(np.diff(node, prepend=-1.0)):
            before[first], done[first] = last.get(float(node[first]), (-1.0, 0.0))
        for final in np.flatnonzero(np.diff(node, append=-1.0)):
            last[float(node[final])] = float(iteration[final]), float(seconds[final])
        wait = np.nan_to_num(waited)
        began = np.where(iteration == before + 1, done, seconds - wait)
        began = np.where(np.isfinite(seconds), np.fmin(began, seconds), np.nan)
        wanted, received, starved, late = (np.nan_to_num(block[name][order]) for name in _COLUMNS[4:])
        lost, staleness = (block[name][order] for name in _NEWER)
        yield _Rows(iteration, wanted, received, starved > 0, late, waited, began, began + wait, lost, staleness)


def _add(count: _Count, rows: _Rows, unit: str, begin: float, end: float) -> None:
    wait = np.nan_to_num(rows.waited_s)
    if unit == "iterations":
        count.rows += int(np.isfinite(rows.iteration).sum())
        there = sent_there = (rows.iteration >= begin) & (rows.iteration < end)
        waited = wait
    else:
        count.rows += int(np.isfinite(rows.began).sum())
        there = (rows.began < end) & (rows.until >= begin)
        sent_there = (rows.began < end) & (rows.began >= begin)
        waited = np.clip(np.minimum(rows.until, end) - np.maximum(rows.began, begin), 0.0, None)
    count.timed |= bool(np.isfinite(rows.waited_s).any())
    lacking = np.clip(rows.wanted - rows.received, 0.0, None)
    is_round = there & (rows.wanted > 0)
    count.rounds += int(is_round.sum())
    count.starved += int((is_round & rows.starved).sum())
    count.short += int((is_round & ~rows.starved & (lacking > 0)).sum())
    count.missing += float(lacking[is_round].sum())
    count.late += float(rows.late[there].sum())
    count.waited_s += float(waited[there].sum())
    count.counts_lost |= bool(np.isfinite(rows.lost).any())
    count.lost += float(np.nansum(rows.lost[sent_there]))
    count.inside.add(rows.staleness[there])
    count.outside.add(rows.staleness[~there])


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


def _consensus(point: Evaluation) -> float | None:
    return finite(point.consensus)


def _objective(point: Evaluation) -> float | None:
    return finite(point.objective)


def _moment(point: Evaluation, unit: str) -> float | None:
    return point.seconds if unit == "seconds" else point.iteration


def _dip(
    series: Iterable[tuple[float, Evaluation]],
    span: Range | None,
    outlived: bool,
    value: Callable[[Evaluation], float | None],
) -> Dip:
    if span is None:
        return Dip(None, None, None, None)
    begin, end = span
    known = [(moment, y) for moment, point in series if (y := value(point)) is not None]
    before = next((y for moment, y in reversed(known) if moment <= begin), None)
    worst = max((y for moment, y in known if begin <= moment <= end), default=None)
    later = [(moment, y) for moment, y in known if moment >= end] if outlived else []
    back = next((moment - end for moment, y in later if before is not None and y <= before), None)
    return Dip(before, worst, later[0][1] if later else None, back)


def _lives(spells: Sequence[PlannedFault], plan: Plan, course: FaultAxes, graph: Topology | None) -> list[Live | None]:
    if graph is None:
        return [None] * len(spells)
    cutting = [
        event for event in plan if isinstance(event.effect, CutEffect | KillEffect | PauseEffect | RestartEffect)
    ]
    usable = [event for event in cutting if named(event)[-1] < graph.nodes]
    gallery = _LiveGraphs(graph)
    return [
        gallery.worst(spell, usable)
        if course.own(spell) is not None
        and spell.events
        and all(named(event)[-1] < graph.nodes for event in spell.events)
        else None
        for spell in spells
    ]


class _LiveGraphs:
    """Live graphs, each looked at once, and no more of them than a report has time for."""

    def __init__(self, graph: Topology) -> None:
        self._graph = graph
        self._known: dict[tuple[int, ...], LiveGraph] = {}
        self._most = max(_GRAPH_WORK // max(graph.nodes, 1) ** 2, _FEWEST_GRAPHS)

    def worst(self, spell: PlannedFault, cutting: Sequence[FaultEvent]) -> Live | None:
        """The most components and the smallest gap at some beginnings in a window, its own and others'."""
        seen = [live for moment in _moments(spell, cutting) if (live := self._at(active(cutting, moment, spell.unit)))]
        if not seen:
            return None
        gaps = [live.spectral_gap for live in seen if live.spectral_gap is not None]
        return Live(max(live.components for live in seen), min(gaps, default=None))

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
