"""The best of the settings tried: most targets reached, then the tightest of these soonest, then the lowest end."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import (
    CompareCell,
    CompareView,
    Edge,
    Plain,
    Values,
    contestants,
    edges,
    further,
    is_allowed,
    tried,
    views,
)
from orchestrator.campaigns.compare.measure import CompareRow, of_cell, to_suboptimality
from orchestrator.results import Status


@dataclass(frozen=True)
class Choice:
    """What tuning chose for an algorithm in a view."""

    view: CompareView
    algorithm: str
    row: CompareRow
    """The best tuning run."""
    tried: int
    diverged: int
    edges: tuple[Edge, ...]

    @property
    def values(self) -> Values:
        """The chosen settings."""
        return self.row.cell.values

    @property
    def is_usable(self) -> bool:
        """Whether any of the runs held."""
        return self.diverged < self.tried


def score(row: CompareRow, targets: Sequence[float]) -> tuple[bool, int, float, float]:
    """The lower, the better; `targets` in descending order."""
    hits = [mark for target in targets if (mark := to_suboptimality(row, target)) is not None]
    tightest = float(hits[-1].iteration) if hits else inf
    return has_diverged(row), -len(hits), tightest, inf if row.left is None else row.left


def choose(comparison: Comparison, rows: Sequence[CompareRow]) -> list[Choice]:
    """For every algorithm and view that has a tuning run; equals are decided by the order of the grid."""
    found = []
    for view in views(comparison):
        for algorithm in contestants(comparison, view):
            mine = _in_order(of_cell(rows, view, algorithm), comparison, algorithm)
            if mine:
                found.append(_choice(comparison, view, algorithm, mine))
    return found


def beyond(comparison: Comparison, choices: Sequence[Choice], rows: Sequence[CompareRow]) -> list[CompareCell]:
    """What to try next where a best value lies on an edge; the same number at most for each algorithm and view."""
    cells = []
    for choice in choices:
        known = [row.cell.values for row in of_cell(rows, choice.view, choice.algorithm)]
        left = len(tried(comparison, choice.algorithm)) + comparison.tuning.more - len(known)
        cells += further(comparison, choice.row.cell, choice.edges, known)[: max(0, left)]
    return cells


def has_diverged(row: CompareRow) -> bool:
    """Whether it broke off, or ended above where it began."""
    return row.status != Status.FINISHED.value or (row.left is not None and row.left > 1.0)


def _choice(comparison: Comparison, view: CompareView, algorithm: str, rows: Sequence[CompareRow]) -> Choice:
    best = min(rows, key=lambda row: score(row, comparison.targets))
    ends = edges(
        best.cell.values,
        [row.cell.values for row in rows],
        lambda key, value: is_allowed(comparison, best.cell, key, value),
    )
    return Choice(view, algorithm, best, len(rows), sum(map(has_diverged, rows)), tuple(ends))


def _in_order(rows: Sequence[CompareRow], comparison: Comparison, algorithm: str) -> list[CompareRow]:
    """Runs end in any order; the choice must not depend on it. What was tried beyond the grid comes behind it."""
    keys = comparison.entries[algorithm].tune

    def place(key: str, value: Plain) -> tuple[int, float]:
        given = keys[key]
        return (given.index(value), 0.0) if value in given else (len(given), float(value or 0.0))

    return sorted(rows, key=lambda row: [place(key, value) for key, value in row.cell.values])
