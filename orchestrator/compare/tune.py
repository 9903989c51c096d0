"""The best of the settings tried: most targets reached, then the tightest of these soonest, then the lowest end."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from orchestrator.compare.file import Comparison
from orchestrator.compare.grid import Edge, Values, View, edges, is_allowed
from orchestrator.compare.measure import Row, of_cell, to_suboptimality
from orchestrator.runs import Status


@dataclass(frozen=True)
class Choice:
    """What tuning chose for an algorithm in a view."""

    view: View
    algorithm: str
    row: Row
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


def score(row: Row, targets: Sequence[float]) -> tuple[bool, int, float, float]:
    """The lower, the better; `targets` in descending order."""
    hits = [mark for target in targets if (mark := to_suboptimality(row, target)) is not None]
    tightest = float(hits[-1].iteration) if hits else inf
    return _diverged(row), -len(hits), tightest, inf if row.left is None else row.left


def choose(comparison: Comparison, rows: Sequence[Row]) -> list[Choice]:
    """For every algorithm and view that has a tuning run; equals are decided by the order of the grid."""
    found = []
    for view in View:
        for algorithm in comparison.entries:
            mine = _in_order(of_cell(rows, view, algorithm), comparison, algorithm)
            if mine:
                found.append(_choice(comparison, view, algorithm, mine))
    return found


def _choice(comparison: Comparison, view: View, algorithm: str, rows: Sequence[Row]) -> Choice:
    best = min(rows, key=lambda row: score(row, comparison.targets))
    ends = edges(
        best.cell.values,
        [row.cell.values for row in rows],
        lambda key, value: is_allowed(comparison, best.cell, key, value),
    )
    return Choice(view, algorithm, best, len(rows), sum(map(_diverged, rows)), tuple(ends))


def _in_order(rows: Sequence[Row], comparison: Comparison, algorithm: str) -> list[Row]:
    """Runs end in any order; the choice must not depend on it."""
    keys = comparison.entries[algorithm].tune
    return sorted(rows, key=lambda row: [keys[key].index(value) for key, value in row.cell.values])


def _diverged(row: Row) -> bool:
    return row.status != Status.FINISHED.value
