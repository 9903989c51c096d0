"""Comparisons with conditions: a file that takes a moment, and rows made by hand."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.campaigns.compare import Comparison, load_comparison
from orchestrator.campaigns.compare.fault_windows import FaultWindow
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow
from orchestrator.campaigns.compare.verdict import CompareOutcome
from orchestrator.campaigns.yardstick import Yardstick
from tests.orchestrator.campaigns.compare.builders import SMALL, mark, row, small_file

CONDITIONS = """
conditions:
  clean: {}
  loss: {messages: {loss: 60%}}
  cut: {faults: [{kind: partition, shape: halves, at: 50ms, for: 100ms}]}
tuned_in: clean
"""
SURVIVAL = SMALL.replace("standardized: {period: 2, participation: 50%}", "standardized: none") + CONDITIONS


def with_conditions(folder: Path, text: str = SURVIVAL, overrides: Sequence[str] = ()) -> Comparison:
    return load_comparison(small_file(folder, text), overrides)


def way(*lefts: float, step_s: float = 1.0) -> list[CompareMark]:
    """A point every second; as far from consensus as from the optimum."""
    points = (mark(5 * place, left, seconds=place * step_s) for place, left in enumerate(lefts))
    return [replace(point, metrics={"consensus": 2 * left}) for point, left in zip(points, lefts, strict=True)]


def reaching(seconds: float, end: float = 0.05) -> list[CompareMark]:
    """At 0.1 and below from this moment on, read to within a thousandth of it; a run has ten seconds."""
    before, after = (mark(place, left, seconds=t) for place, left, t in ((9, 0.2, 0.999 * seconds), (10, 0.1, seconds)))
    return [mark(0, 1.0, seconds=0.0), before, after, mark(100, end, seconds=10.0)]


def missing(end: float = 0.5) -> list[CompareMark]:
    return [mark(0, 1.0, seconds=0.0), mark(100, end, seconds=10.0)]


def under(
    condition: str,
    marks: list[CompareMark],
    seed: int,
    algorithm: str = "pame",
    windows: tuple[FaultWindow, ...] = (),
    status: str = "finished",
) -> CompareRow:
    found = row(algorithm, marks, seed, status=status)
    return replace(found, cell=replace(found.cell, condition=condition), windows=windows)


def window(begin: float, end: float, fault: str = "partition", is_outlived: bool = True) -> FaultWindow:
    seconds, iterations = (begin, end), (5 * begin, 5 * end)
    return FaultWindow(fault, f"{fault} in halves", seconds, iterations, (5000 * begin, 5000 * end), is_outlived)


def survival_of(folder: Path, rows: Sequence[CompareRow], text: str = SURVIVAL) -> CompareOutcome:
    comparison = with_conditions(folder, text)
    return CompareOutcome(
        comparison=comparison,
        nodes=6,
        backend="simulate",
        command="pame compare small.yaml",
        sticks={1: Yardstick(0.7, 0.2)},
        tuning=[],
        choices=[],
        simulated=[row for row in rows if row.cell.condition == comparison.reference],
        in_conditions=list(rows),
        seconds=12.0,
    )
