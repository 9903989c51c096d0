"""What is tried, and which setting is best: most targets reached, then the tightest soonest, then the lowest end.

What runs next follows from what has run. Where the best value lies on an edge, one beyond it is tried, as long as the
budget lasts, which is the same for all; else the best runs to its own end. If it diverges there it is out, and it
begins anew with the next best: until the choice is confirmed and on no edge, or the budget is used up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from orchestrator.campaigns.compare.file import Comparison, Target
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
    tuning_cells,
    views,
)
from orchestrator.campaigns.compare.measure import CompareRow, level, of_cell, to_target
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
        return self.row.cell.values

    @property
    def is_usable(self) -> bool:
        """Whether any of the runs held."""
        return self.diverged < self.tried


@dataclass(frozen=True)
class Trial:
    """A tuning run: until it has told what it can, or to its own end."""

    cell: CompareCell
    to_its_end: bool = False


Trials = Mapping[Trial, CompareRow]
"""Those that are done."""
IsAllowed = Callable[[CompareCell, str, float], bool]
"""Whether a setting of a cell may have this value."""


def next_trials(comparison: Comparison, done: Trials) -> list[Trial]:
    """What the algorithms run next; nothing: the choice stands."""
    if not done:
        return [Trial(cell) for cell in tuning_cells(comparison)]
    rows = judged(done)
    choices = choose(comparison, rows)
    return follow(choices, beyond(comparison, choices, rows), done)


def follow(choices: Sequence[Choice], wider: Sequence[CompareCell], done: Trials) -> list[Trial]:
    """Beyond the edges; of whom nothing is left to try there, the chosen setting to its end."""
    unsettled = {(cell.view, cell.algorithm) for cell in wider}
    chosen = [c.row for c in choices if (c.view, c.algorithm) not in unsettled]
    ends = [Trial(row.cell, to_its_end=True) for row in chosen if not has_diverged(row)]
    return [*map(Trial, wider), *(trial for trial in ends if trial not in done)]


def judged(done: Trials) -> list[CompareRow]:
    """Every setting by its shorter run, so that all are judged alike; but one that diverges later has diverged."""
    rows = []
    for trial, row in done.items():
        if not trial.to_its_end:
            later = done.get(Trial(trial.cell, to_its_end=True))
            rows.append(row if later is None or not has_diverged(later) else later)
    return rows


def score(row: CompareRow, targets: Sequence[Target]) -> tuple[bool, int, float, float]:
    """The lower, the better; `targets`: the easiest first."""
    hits = [mark for target in targets if (mark := to_target(row, target)) is not None]
    tightest = float(hits[-1].iteration) if hits else inf
    return has_diverged(row), -len(hits), tightest, level(row.marks[-1], targets[0].kind) if row.marks else inf


def choose(comparison: Comparison, rows: Sequence[CompareRow]) -> list[Choice]:
    """For every algorithm and view that has a tuning run; equals are decided by the order of the grid."""
    found = []
    for view in views(comparison):
        for algorithm in contestants(comparison, view):
            mine = _in_order(of_cell(rows, view, algorithm), comparison, algorithm)
            if mine:
                found.append(pick(view, algorithm, mine, comparison.targets, partial(is_allowed, comparison)))
    return found


def beyond(comparison: Comparison, choices: Sequence[Choice], rows: Sequence[CompareRow]) -> list[CompareCell]:
    """What to try next where a best value lies on an edge; the same number at most for each algorithm and view."""
    return [
        cell
        for choice in choices
        for cell in widen(
            choice,
            rows,
            comparison.entries[choice.algorithm].tune,
            len(tried(comparison, choice.algorithm)) + comparison.tuning.more,
            partial(is_allowed, comparison),
        )
    ]


def widen(
    choice: Choice, rows: Sequence[CompareRow], grid: Mapping[str, Sequence[Plain]], budget: int, is_allowed: IsAllowed
) -> list[CompareCell]:
    """Beyond the edges of one choice; `budget`: of how many settings in all."""
    best, known = choice.row.cell, [row.cell.values for row in of_cell(rows, choice.view, choice.algorithm)]
    return further(grid, best, choice.edges, known, partial(is_allowed, best))[: max(0, budget - len(known))]


def has_diverged(row: CompareRow) -> bool:
    """Whether it broke off, or ended above where it began."""
    return row.status != Status.FINISHED.value or row.is_worse_than_it_was


def pick(
    view: CompareView, algorithm: str, rows: Sequence[CompareRow], targets: Sequence[Target], is_allowed: IsAllowed
) -> Choice:
    """The best of some runs; of equals the first."""
    best = min(rows, key=lambda row: score(row, targets))
    ends = edges(best.cell.values, [row.cell.values for row in rows], partial(is_allowed, best.cell))
    return Choice(view, algorithm, best, len(rows), sum(map(has_diverged, rows)), tuple(ends))


def _in_order(rows: Sequence[CompareRow], comparison: Comparison, algorithm: str) -> list[CompareRow]:
    """Runs end in any order; the choice must not depend on it. What was tried beyond the grid comes behind it."""
    keys = comparison.entries[algorithm].tune

    def place(key: str, value: Plain) -> tuple[int, float]:
        given = keys[key]
        return (given.index(value), 0.0) if value in given else (len(given), float(value or 0.0))

    return sorted(rows, key=lambda row: [place(key, value) for key, value in row.cell.values])
