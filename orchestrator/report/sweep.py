"""A sweep folder as typed data: its runs, grouped by what was swept, with repeated seeds side by side."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.algorithm_names import setting_value
from orchestrator.report.progress import thinned
from orchestrator.results.files import ReportError, finite, mapping, read_object, reading
from orchestrator.results.points import read_curve
from orchestrator.results.summary import RunSummary, read_summary
from pame.observe import Evaluation

Floats = NDArray[np.float64]
SEED = "seed"
GRID = 150
NOTHING = "–"
"""What a run has of a key that only others have: another section of a sweep has that key."""


@dataclass(frozen=True, slots=True)
class SweepRun:
    """One run of a sweep; a run that left no summary has none."""

    folder: str
    values: Mapping[str, Any]
    status: str
    summary: RunSummary | None
    curve: tuple[Evaluation, ...]

    @property
    def seed(self) -> int | None:
        """Of its data, graph and draws."""
        return self.summary.seed if self.summary is not None else None


@dataclass(frozen=True, slots=True)
class Group:
    """The runs that differ in nothing but their seed."""

    label: str
    values: Mapping[str, Any]
    runs: tuple[SweepRun, ...]


@dataclass(frozen=True, slots=True)
class SweepData:
    """sweep.json and what is below it; `keys` are those that vary, without the seed."""

    name: str
    keys: tuple[str, ...]
    groups: tuple[Group, ...]

    @property
    def runs(self) -> tuple[SweepRun, ...]:
        return tuple(run for group in self.groups for run in group.runs)

    @property
    def repeated(self) -> bool:
        return any(len(group.runs) > 1 for group in self.groups)

    @property
    def has_optima(self) -> bool:
        """Whether the optimum of every run's own problem is known: f itself is that of another problem per seed."""
        summaries = [run.summary for run in self.runs if run.summary is not None]
        return bool(summaries) and all(summary.least is not None for summary in summaries)

    def numeric(self, key: str) -> bool:
        values = [group.values[key] for group in self.groups if key in group.values]
        return bool(values) and all(finite(value) is not None for value in values)

    @property
    def ordered(self) -> bool:
        """Whether the groups have a natural order, that of one swept number."""
        return len(self.keys) == 1 and self.numeric(self.keys[0])


def read_sweep(folder: Path) -> SweepData:
    """sweep.json and the runs it names; every run must be below the sweep's folder."""
    with reading(folder):
        content = read_object(folder / "sweep.json")
        runs = [_run(folder, mapping(entry)) for entry in content.get("runs") or []]
    if not runs:
        raise ReportError(f"{folder / 'sweep.json'} names no runs: run the sweep first.")
    keys = tuple(str(key) for key in content.get("keys") or [])
    settings = tuple(key for key in keys if key != SEED) or keys
    short = short_names(settings)
    gathered: dict[str, list[SweepRun]] = {}
    for run in runs:
        gathered.setdefault(setting_words(run.values, settings, short) or run.folder, []).append(run)
    groups = tuple(Group(label, members[0].values, tuple(members)) for label, members in gathered.items())
    sweep = SweepData(str(content.get("name") or folder.name), settings, groups)
    if not sweep.ordered:
        return sweep
    return replace(sweep, groups=tuple(sorted(groups, key=lambda group: finite(group.values.get(settings[0])) or 0.0)))


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last part of each dotted key, or all of it where that would be ambiguous."""
    last = {key: key.rpartition(".")[2] for key in keys}
    return {key: name if list(last.values()).count(name) == 1 else key for key, name in last.items()}


def setting_words(values: Mapping[str, Any], keys: Sequence[str], short: Mapping[str, str]) -> str:
    """Some keys with their values; of a single one the value."""
    if len(keys) == 1:
        return setting_value(keys[0], values.get(keys[0], NOTHING))
    return " · ".join(f"{short[key]} = {setting_value(key, values[key])}" for key in keys if key in values)


def gap(summary: RunSummary | None, objective: float | None) -> float | None:
    """f - f* of a run's own problem."""
    if summary is None or summary.least is None or objective is None:
        return None
    return objective - summary.least


def same_seeds(one: Group, other: Group, of: Callable[[RunSummary], float | None]) -> list[tuple[float, float]]:
    """A figure of both, seed by seed; a seed that ran twice, or without a figure, is left out."""

    def by_seed(group: Group) -> dict[int, float]:
        seeds = Counter(run.seed for run in group.runs)
        figures = ((run.seed, of(run.summary)) for run in group.runs if run.summary is not None)
        return {seed: value for seed, value in figures if seed is not None and value is not None and seeds[seed] == 1}

    first, second = by_seed(one), by_seed(other)
    return [(first[seed], second[seed]) for seed in sorted(first.keys() & second.keys())]


def along(run: SweepRun, x: str, y: Callable[[Evaluation], float | None]) -> tuple[Floats, Floats]:
    """A run's curve of `y` over iteration, seconds or bytes, without the points that lack either."""
    wanted, other = ("time", "iteration") if x == "seconds" else ("iteration", "time")
    points = [p for p in run.curve if p.by == wanted] or [p for p in run.curve if p.by == other]
    both = [(getattr(point, x), finite(y(point))) for point in thinned(points, 2 * GRID)]
    known = [(a, b) for a, b in both if a is not None and b is not None]
    return np.array([a for a, _ in known], np.float64), np.array([b for _, b in known], np.float64)


def middle(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats, Floats, Floats]:
    """x, median, lowest and highest of several curves where all of them have values.

    Curves with the same x are compared point by point; others are read off between their points on a common grid.
    """
    curves = [(x, y) for x, y in curves if x.size]
    if not curves:
        nothing = np.zeros(0)
        return nothing, nothing, nothing, nothing
    grid = curves[0][0]
    if any(not np.array_equal(x, grid) for x, _ in curves):
        start, end = max(float(x[0]) for x, _ in curves), min(float(x[-1]) for x, _ in curves)
        grid = np.linspace(start, end, GRID) if end > start else np.zeros(0)
    values = np.array([np.interp(grid, x, y) for x, y in curves])
    return grid, np.median(values, axis=0), values.min(axis=0), values.max(axis=0)


def _run(folder: Path, entry: Mapping[str, Any]) -> SweepRun:
    name = str(entry.get("folder") or "")
    path = folder / name
    if not name or not path.resolve().is_relative_to(folder.resolve()):
        raise ReportError(f"sweep.json names the run folder {name!r}, which is not below {folder}: correct the name.")
    summary = read_summary(path)
    status = str(entry.get("status") or (summary.status if summary else "unknown"))
    return SweepRun(name, mapping(entry.get("values")), status, summary, read_curve(path))
