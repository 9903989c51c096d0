"""Where the windows of faults lie on the axes of the curves: seconds, iterations, volume."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from orchestrator.results.fault_history import PlannedFault
from orchestrator.results.files import largest
from orchestrator.results.tables import Floats
from orchestrator.results.window_rounds import Range
from pame.observe import Evaluation


@dataclass(frozen=True)
class FaultAxes:
    """How far a run had come when: its ends, and its own curves to translate seconds and iterations by.

    `clock` holds seconds and iterations, both ascending; `volume` iterations and bytes. Empty: not translatable.
    """

    seconds: float | None
    iterations: float | None
    clock: tuple[Floats, Floats]
    volume: tuple[Floats, Floats]

    def in_seconds(self, spell: PlannedFault) -> Range | None:
        """When it was, by what was told of it if anything was; None if it cannot be said, or never began."""
        if spell.why_not is not None:
            return None
        begin, end = self._told(spell)
        if spell.unit == "seconds":
            return _within(spell.begin if begin is None else begin, spell.end if end is None else end, self.seconds)
        placed = _within(spell.begin, spell.end, self.iterations)
        mapped = _mapped(placed, self.clock[1], self.clock[0], self.iterations, self.seconds)
        if spell.lasts_s is not None:
            first, last = (begin, begin) if begin is not None else mapped or (inf, inf)
            return _within(first, last + spell.lasts_s if end is None else end, self.seconds)
        if begin is not None:
            end = end if end is not None else mapped[1] if mapped else None
            return None if end is None else _within(begin, end, self.seconds)
        return mapped

    def in_iterations(self, spell: PlannedFault) -> Range | None:
        """At which iterations it was; None if it cannot be said, or never began."""
        if spell.why_not is None and spell.scale == "iterations":
            return _within(spell.begin, spell.end, self.iterations)
        return _mapped(self.in_seconds(spell), *self.clock, self.seconds, self.iterations)

    def in_bytes(self, spell: PlannedFault) -> Range | None:
        """How much had been sent; None if it cannot be said, or never began."""
        return _mapped(self.in_iterations(spell), *self.volume)

    def own(self, spell: PlannedFault) -> Range | None:
        """In what it is measured: the unit of its plan, or seconds if it only began with an iteration."""
        return self.in_seconds(spell) if spell.scale == "seconds" else self.in_iterations(spell)

    def outlived(self, spell: PlannedFault) -> bool:
        span, end = self.own(spell), self.seconds if spell.scale == "seconds" else self.iterations
        return span is not None and end is not None and span[1] < end

    def never_began(self, spell: PlannedFault) -> bool:
        """Whether it is known that it did not happen."""
        if spell.why_not is not None:
            return True
        end = self.seconds if spell.unit == "seconds" else self.iterations
        return not spell.acts.begun and end is not None and spell.begin >= end

    @staticmethod
    def _told(spell: PlannedFault) -> tuple[float | None, float | None]:
        if len(spell.events) > 1:  # somebody's last word need not be about its last window
            return None, None
        begun, ended = spell.acts.begun, spell.acts.ended
        begin, end = begun[0] if begun else None, ended[-1] if ended else None
        return (begin, end) if begin is None or end is None or end > begin else (None, None)


def course(points: Sequence[Evaluation], seconds: float | None, iterations: float | None) -> FaultAxes:
    by_time = [point for point in points if point.by != "iteration"]
    by_iteration = [point for point in points if point.by == "iteration"]
    clock = next((pair for some in (by_time, by_iteration) if (pair := _clock(some))[0].size > 1), _clock([]))
    volume = next((pair for some in (by_iteration, by_time) if (pair := _volume(some))[0].size > 1), _volume([]))
    return FaultAxes(
        largest([seconds, *(point.seconds for point in points)]),
        largest([iterations, *(point.iteration for point in points)]),
        clock,
        volume,
    )


def _clock(points: Sequence[Evaluation]) -> tuple[Floats, Floats]:
    return _ascending([(p.seconds, p.iteration) for p in points if p.seconds is not None])


def _volume(points: Sequence[Evaluation]) -> tuple[Floats, Floats]:
    return _ascending([(p.iteration, p.bytes) for p in points])


def _ascending(pairs: Sequence[tuple[float, float]]) -> tuple[Floats, Floats]:
    table = np.array(sorted(pairs), np.float64).reshape(-1, 2)
    return table[:, 0], np.maximum.accumulate(table[:, 1])


def _mapped(
    span: Range | None, source: Floats, target: Floats, last: float | None = None, last_there: float | None = None
) -> Range | None:
    """Between the points of a curve; what lasts to the end of the run (`last`) does so there, too."""
    if span is None or source.size < 2:
        return None
    begin, end = (float(place) for place in np.interp(span, source, target))
    return begin, last_there if last_there is not None and span[1] == last else end


def _within(begin: float, end: float, last: float | None) -> Range | None:
    if last is None or begin >= last:
        return None
    return max(begin, 0.0), min(end, last)
