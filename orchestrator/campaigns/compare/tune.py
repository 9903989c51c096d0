"""What is tried, and which setting is best: most targets reached, then the tightest soonest, then the lowest end.

What runs next follows from what has run. Where the best value lies on an edge, one beyond it is tried, as long as the
budget lasts, which is the same for all; else the best runs to its own end. If it diverges there it is out, and it
begins anew with the next best: until the choice is confirmed and on no edge, or the budget is used up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    is_allowed,
    next_value,
    sampled,
    views,
)
from orchestrator.campaigns.compare.measure import CompareRow, level, of_cell, to_target
from orchestrator.results import Status
from pame.baselines import Baseline

_ETA = 0.1
"""Tried for the baselines where no step is tuned."""


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


@dataclass(frozen=True)
class Tunable:
    """What is tuned: an algorithm in a view, or a line that exchanges nothing."""

    view: CompareView
    algorithm: str
    grid: Mapping[str, Sequence[Plain]]
    is_allowed: IsAllowed

    def choose(self, rows: Sequence[CompareRow], targets: Sequence[Target]) -> Choice | None:
        """The best of its tuning runs, if there are any; equals are decided by the order of the grid."""
        mine = sorted(of_cell(rows, self.view, self.algorithm), key=self._place)
        if not mine:
            return None
        best = min(mine, key=lambda row: score(row, targets))
        ends = edges(best.cell.values, [row.cell.values for row in mine], partial(self.is_allowed, best.cell))
        return Choice(self.view, self.algorithm, best, len(mine), sum(map(has_diverged, mine)), tuple(ends))

    def beyond(self, choice: Choice, rows: Sequence[CompareRow], budget: int) -> list[CompareCell]:
        """One setting beyond each edge on which the best value lies; `budget`: of how many settings in all."""
        best, known = choice.row.cell, [row.cell.values for row in of_cell(rows, self.view, self.algorithm)]
        found = []
        for edge in choice.edges:
            value = next_value(edge, self.grid[edge.key])
            values = tuple((key, value if key == edge.key else kept) for key, kept in best.values)
            if values not in known and self.is_allowed(best, edge.key, value):
                found.append(replace(best, values=values))
        return found[: max(0, budget - len(known))]

    def _place(self, row: CompareRow) -> list[tuple[int, float]]:
        """Runs end in any order; the choice must not depend on it. What was tried beyond the grid comes behind it."""

        return [
            (given.index(value), 0.0) if value in given else (len(given), float(value or 0.0))
            for key, value in row.cell.values
            for given in (self.grid[key],)
        ]


def tunables(comparison: Comparison) -> list[Tunable]:
    """Every algorithm in every view."""
    return [
        Tunable(view, algorithm, comparison.entries[algorithm].tune, partial(is_allowed, comparison))
        for view in views(comparison)
        for algorithm in contestants(comparison, view)
    ]


def tunable_baselines(comparison: Comparison) -> list[Tunable]:
    """The two lines that exchange nothing: as many settings as for any algorithm, of all the steps that are tried for
    one. Of a single step, or none, twice as much as well: else there is no edge to go beyond."""

    def values(name: str) -> list[float]:
        tuned = (item for entry in comparison.entries.values() for item in entry.tune.items())
        return sorted({float(value) for key, some in tuned if key.endswith(f".{name}") for value in some})

    def allows(_: CompareCell, key: str, value: float) -> bool:
        return value > 0.0 if key == "eta" else value >= 1.0

    etas = values("eta") or [_ETA]
    grid = {"eta": etas if len(etas) > 1 else [*etas, 2 * etas[0]], "gamma": values("gamma") or [1.0]}
    return [Tunable(CompareView.AS_PUBLISHED, kind.value, grid, allows) for kind in Baseline]


def next_trials(comparison: Comparison, tuned: Sequence[Tunable], done: Trials) -> list[Trial]:
    """What runs next: beyond the edges, as long as the budget lasts; where nothing is left to try, the chosen setting
    to its end. Nothing: the choices stand."""
    tuning = comparison.tuning
    if not done:
        first = [(one, values) for one in tuned for values in sampled(one.grid, tuning)]
        return [
            Trial(CompareCell(one.algorithm, one.view, values, tuning.seed, comparison.tuned_in))
            for one, values in first
        ]
    rows, wider, ends = judged(done), list[Trial](), list[Trial]()
    for one in tuned:
        if (choice := one.choose(rows, comparison.targets)) is None:
            continue
        cells = one.beyond(choice, rows, len(sampled(one.grid, tuning)) + tuning.more)
        wider += map(Trial, cells)
        if not cells and not has_diverged(choice.row):
            ends.append(Trial(choice.row.cell, to_its_end=True))
    return [*wider, *(trial for trial in ends if trial not in done)]


def choose(comparison: Comparison, tuned: Sequence[Tunable], rows: Sequence[CompareRow]) -> list[Choice]:
    """For all that have a tuning run."""
    found = [one.choose(rows, comparison.targets) for one in tuned]
    return [choice for choice in found if choice is not None]


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


def has_diverged(row: CompareRow) -> bool:
    """Whether it broke off, or ended above where it began."""
    return row.status != Status.FINISHED.value or row.is_worse_than_it_was
