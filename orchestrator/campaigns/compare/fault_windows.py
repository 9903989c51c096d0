"""When something was done to a run of a comparison, on the axes of its curves."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.results.fault_axes import course
from orchestrator.results.fault_history import Faults, PlannedFault
from orchestrator.results.window_rounds import Range
from pame.observe import Evaluation


@dataclass(frozen=True)
class FaultWindow:
    """When a fault was, on the axes of the curves; None: it has no place there."""

    fault: str
    words: str
    seconds: Range | None
    iterations: Range | None
    bytes: Range | None
    is_outlived: bool
    """Whether the run went on after it."""


def windows_in(faults: Faults | None, points: Sequence[Evaluation], seconds: float | None) -> list[dict[str, Any]]:
    """Of a run with these points, as JSON has them; what never began is no window."""
    if faults is None:
        return []
    axes = course(points, seconds, None)

    def window(spell: PlannedFault) -> FaultWindow:
        places = axes.in_seconds(spell), axes.in_iterations(spell), axes.in_bytes(spell)
        return FaultWindow(spell.fault, spell.words, *places, axes.outlived(spell))

    return [asdict(window(spell)) for spell in faults.shown if not axes.never_began(spell)]


def windows_of(figures: Mapping[str, Any]) -> tuple[FaultWindow, ...]:
    """Of a run, as it is or read from its row."""
    return tuple(FaultWindow(**{**said, **_spans(said)}) for said in figures.get("windows", ()))


def _spans(said: Mapping[str, Any]) -> dict[str, Range | None]:
    axes = ("seconds", "iterations", "bytes")
    return {axis: None if said[axis] is None else (said[axis][0], said[axis][1]) for axis in axes}
