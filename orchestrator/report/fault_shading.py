"""The windows of faults as shades behind the curves, and which of them are at a point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.report.vega import Row, Shade, short
from orchestrator.results.fault_axes import FaultAxes
from orchestrator.results.fault_history import Faults, PlannedFault
from orchestrator.results.window_rounds import Range

NOBODY = "none"
_NAMED = 3
_AXES = {"iteration": "iterations", "seconds": "seconds", "bytes": "bytes"}


@dataclass(frozen=True)
class FaultShading:
    """What lies behind the curves: by axis, the windows that have a place on it."""

    kinds: Sequence[str] = ()
    spans: Mapping[str, Sequence[tuple[PlannedFault, Range]]] = field(default_factory=dict)
    said: str = ""

    def on(self, axis: str) -> Shade | None:
        return Shade(_dataset(axis), list(self.kinds)) if self.spans.get(axis) else None

    @property
    def any(self) -> bool:
        return any(self.spans.values())

    def data(self, byte_size: int = 1) -> dict[str, list[Row]]:
        sizes = {"bytes": byte_size}
        return {
            _dataset(axis): [
                {"from": short(begin / sizes.get(axis, 1)), "to": short(end / sizes.get(axis, 1)), "fault": s.fault}
                for s, (begin, end) in spans
            ]
            for axis, spans in self.spans.items()
            if spans
        }

    def at(self, iteration: float | None, seconds: float | None, by_time: bool) -> str:
        """The faults at a point of the curve, for its tooltip."""
        axis, moment = ("seconds", seconds) if by_time else ("iteration", iteration)
        if moment is None:
            return NOBODY
        there = [spell for spell, (begin, end) in self.spans.get(axis, ()) if begin <= moment < end]
        names = list(dict.fromkeys(spell.words for spell in there))
        more = len(names) - _NAMED
        return "; ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "") or NOBODY


def shades(faults: Faults | None, course: FaultAxes) -> FaultShading:
    """Of all faults that have a place on some axis."""
    if faults is None or not faults.shown:
        return FaultShading()
    places = {"iteration": course.in_iterations, "seconds": course.in_seconds, "bytes": course.in_bytes}
    spans = {
        axis: [(spell, span) for spell in faults.shown if (span := place(spell)) is not None]
        for axis, place in places.items()
    }
    return FaultShading(faults.kinds, spans, _said(faults, course, spans))


def _said(faults: Faults, course: FaultAxes, spans: Mapping[str, Sequence[tuple[PlannedFault, Range]]]) -> str:
    begun = [spell for spell in faults.shown if not course.never_began(spell)]
    said = ["Shaded: faults."] if any(spans.values()) else []
    if faults.is_outlined:
        said[-1:] = ["Shaded: faults, each from its first beginning to its last end, because the windows are many."]
    if any(spell.scale == "seconds" for spell, _ in spans["iteration"]):
        said.append("Those in seconds are placed among iterations by the mean iteration of the nodes at that time.")
    for axis, words in _AXES.items():
        missing = len(begun) - len(spans[axis])
        if missing > 0 and not (axis == "seconds" and course.seconds is None):
            said.append(f"{missing} of {len(begun)} have no known place among {words} and are not shaded there.")
    return " ".join(said)


def _dataset(axis: str) -> str:
    return f"faults-{axis}"
