"""What faults did to the algorithms: the curve and the consensus distance before a window, at their worst in it, and
after it, and how long after its end they were back at the value before. Medians and ranges over the seeds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orchestrator.campaigns.compare.fault_windows import FaultWindow
from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow, level
from orchestrator.campaigns.compare.survival import Survival
from orchestrator.campaigns.compare.verdict import Measure
from orchestrator.results.fault_impact import Dip, dip_of
from orchestrator.results.spread import Spread, spread, spread_of_hits
from orchestrator.results.window_rounds import Range

_SHOWN_ALONE = 3
"""More windows of one kind are looked at as one, from the first beginning to the last end."""


@dataclass(frozen=True)
class DipSpread:
    """One figure around a window, turned so that less is better."""

    before: Spread | None
    worst: Spread | None
    after: Spread | None
    recovered: Spread | None
    """How long after the end; those that never rose were back at once, those that never came back missed."""
    risen: int
    """With how many seeds it was above the value before at all."""
    seeds: int


@dataclass(frozen=True)
class AroundFault:
    """One window of a condition, and what one algorithm did around it."""

    of: Survival
    fault: str
    begin: Spread
    end: Spread
    """In what the algorithm is counted in."""
    reached: DipSpread
    """What targets are about."""
    consensus: DipSpread


def around_faults(found: Sequence[Survival], target: Target) -> list[AroundFault]:
    """For every condition with windows, in the order of what was found."""
    said = []
    order = list(dict.fromkeys(one.condition for one in found))
    for one in sorted(found, key=lambda one: order.index(one.condition)):
        by_row = [(row, spans_of(row.windows, one.measure)) for row in one.rows]
        for key in dict.fromkeys(key for _, spans in by_row for key in spans):
            there = [(row, *spans[key]) for row, spans in by_row if key in spans]
            begin, end = (spread([span[side] for _, span, _ in there]) for side in (0, 1))
            assert begin is not None
            assert end is not None
            dips = [
                _spread([_dip(row, one.measure, span, is_outlived, figure) for row, span, is_outlived in there])
                for figure in (lambda mark: level(mark, target.kind), lambda mark: mark.metrics.get("consensus"))
            ]
            said.append(AroundFault(one, key[0], begin, end, *dips))
    return said


def spans_of(windows: Sequence[FaultWindow], measure: Measure) -> dict[tuple[str, int], tuple[Range, bool]]:
    """By kind and place among those of its kind: the window, and whether the run outlived it."""
    found: dict[tuple[str, int], tuple[Range, bool]] = {}
    for kind in dict.fromkeys(window.fault for window in windows):
        mine = [(span, one.is_outlived) for one in windows if one.fault == kind and (span := on_axis(one, measure))]
        if len(mine) > _SHOWN_ALONE:
            begin, end = min(span[0] for span, _ in mine), max(span[1] for span, _ in mine)
            mine = [((begin, end), all(outlived for _, outlived in mine))]
        found |= {(kind, place): one for place, one in enumerate(mine)}
    return found


def on_axis(window: FaultWindow, measure: Measure) -> Range | None:
    return {"seconds": window.seconds, "iterations": window.iterations, "bytes": window.bytes}.get(measure.key)


def _dip(
    row: CompareRow, measure: Measure, span: Range, is_outlived: bool, of: Callable[[CompareMark], float | None]
) -> Dip:
    both = ((measure.of(mark), of(mark)) for mark in row.marks)
    return dip_of([(x, y) for x, y in both if x is not None and y is not None], span, is_outlived)


def _spread(dips: Sequence[Dip]) -> DipSpread:
    risen = [dip for dip in dips if _has_risen(dip)]
    told = [dip for dip in dips if dip.before is not None and dip.after is not None]
    return DipSpread(
        before=spread([dip.before for dip in dips]),
        worst=spread([dip.worst for dip in dips]),
        after=spread([dip.after for dip in dips]),
        recovered=spread_of_hits([dip.recovered if _has_risen(dip) else 0.0 for dip in told]),
        risen=len(risen),
        seeds=len(dips),
    )


def _has_risen(dip: Dip) -> bool:
    values = [value for value in (dip.worst, dip.after) if value is not None]
    return dip.before is not None and any(value > dip.before for value in values)
