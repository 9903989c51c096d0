"""What a comparison runs: cells, each an algorithm in a view with the tuned values and a seed.

In each of the conditions of the file, if it has any (`conditions`).
as-published   every algorithm with its own period, and its own choice of neighbours; PaME also with the printed step
standardized   the same period and participation for all, under a reading of what that means (`Reading`)
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar, Literal, get_args, get_type_hints

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.compare.conditions import CompareCondition, place_of
from orchestrator.campaigns.compare.file import Comparison, Tuning
from orchestrator.experiment import Experiment, ExperimentError, load_data, swept_keys
from orchestrator.experiment.model import Period
from orchestrator.experiment.overrides import Override
from orchestrator.experiment.text import Data
from pame.baselines import Baseline
from pame.randomness import Key, Purpose, subset

Plain = str | int | float | bool | None
Values = tuple[tuple[str, Plain], ...]
"""What was tuned, by dotted key."""
_BEYOND = 1e-6
_Draw = Literal["shared", "mutual", "directed"]
_Weights = Literal["active", "graph"]
_Periods = Literal["one", "each"]


@dataclass(frozen=True)
class StandardReading:
    """What "the same period and participation for all" may mean."""

    draw: _Draw = "shared"
    weights: _Weights = "active"
    periods: _Periods = "one"

    @property
    def words(self) -> str:
        return f"{self.draw}, {self.weights}, {'one period' if self.periods == 'one' else 'a period each'}"


@dataclass(frozen=True)
class CompareView:
    """Under which conditions the algorithms are compared."""

    reading: StandardReading | None = None
    """None: as published."""

    AS_PUBLISHED: ClassVar["CompareView"]

    @property
    def value(self) -> str:
        return "as-published" if self.reading is None else f"standardized ({self.reading.words})"

    @property
    def key(self) -> str:
        return re.sub(r"[^a-z]+", "-", self.value).strip("-")

    @property
    def family(self) -> str:
        """Views of one family stand in one table."""
        return "as-published" if self.reading is None else "standardized"


CompareView.AS_PUBLISHED = CompareView()


def views(comparison: Comparison) -> list[CompareView]:
    """As published, and standardized as the file reads it, in every reading, or not at all."""
    common = comparison.standardized
    if common.readings == "none":
        return [CompareView.AS_PUBLISHED]
    if common.readings == "this":
        return [CompareView.AS_PUBLISHED, CompareView(StandardReading(common.draw, common.weights, common.periods))]
    found = product(get_args(_Draw), get_args(_Weights), get_args(_Periods))
    return [CompareView.AS_PUBLISHED, *(CompareView(StandardReading(*choices)) for choices in found)]


def contestants(comparison: Comparison, view: CompareView) -> list[str]:
    """Who is compared in a view, in the order of the file."""
    if view.reading is None:
        return list(comparison.entries)
    return [name for name in comparison.entries if name not in comparison.printed and name not in left_out(comparison)]


def left_out(comparison: Comparison) -> dict[str, str]:
    """Who cannot be standardized, and why."""
    found = {}
    for name in comparison.entries:
        cell = CompareCell(name, CompareView.AS_PUBLISHED, (), comparison.tuning.seed, comparison.tuned_in)
        algorithm = _load(comparison, cell, []).algorithm
        missing = [key for key in ("participation", "draw") if not hasattr(algorithm, key)]
        if missing:
            found[name] = (
                f"{algorithm_name(name)} cannot be standardized, and is left out: it has no {' and no '.join(missing)}"
            )
    return found


@dataclass(frozen=True)
class CompareCell:
    algorithm: str
    view: CompareView
    values: Values
    seed: int
    condition: str = ""
    """Its name; empty: the base experiment as it is."""

    @property
    def is_baseline(self) -> bool:
        """Whether it exchanges nothing."""
        return self.algorithm in {kind.value for kind in Baseline}

    @property
    def name(self) -> str:
        where = f"_{self.condition}" if self.condition else ""
        return f"{self.algorithm}_{self.view.key}{where}_seed-{self.seed}"


@dataclass(frozen=True)
class Edge:
    """A tuned value that is the smallest or the largest of those tried, though the setting could go on."""

    key: str
    value: float
    is_largest: bool

    @property
    def words(self) -> str:
        name, end = self.key.rpartition(".")[2], "largest" if self.is_largest else "smallest"
        return f"the best {name}, {self.value:g}, is the {end} tried"


def tried(comparison: Comparison, algorithm: str) -> list[Values]:
    """The settings that are tried: the whole grid, or a seeded sample of as many as the budget allows."""
    return sampled(comparison.entries[algorithm].tune, comparison.tuning)


def sampled(axes: Mapping[str, Sequence[Plain]], tuning: Tuning) -> list[Values]:
    grid = [tuple(zip(axes, values, strict=True)) for values in product(*axes.values())]
    if len(grid) <= tuning.runs:
        return grid
    # tuning happens in the simulator, which never draws links to verify
    return [grid[place] for place in subset(Key(tuning.seed, Purpose.TUNING), len(grid), tuning.runs).tolist()]


def tuning_cells(comparison: Comparison) -> list[CompareCell]:
    return [
        CompareCell(algorithm, view, values, comparison.tuning.seed, comparison.tuned_in)
        for view in views(comparison)
        for algorithm in contestants(comparison, view)
        for values in tried(comparison, algorithm)
    ]


def final_cells(
    chosen: Mapping[tuple[CompareView, str], Values],
    seeds: Sequence[int],
    conditions: Sequence[str] = ("",),
) -> list[CompareCell]:
    """The chosen settings on fresh seeds; seed by seed, so that one is complete before the next begins."""
    return [
        CompareCell(algorithm, view, values, seed, condition)
        for seed in seeds
        for condition in conditions
        for (view, algorithm), values in chosen.items()
    ]


def edges(best: Values, others: Sequence[Values], is_allowed: Callable[[str, float], bool]) -> list[Edge]:
    """Which of the best values lie at an end of what was tried; the end of what a setting may be is no such end."""
    found = []
    for key, chosen in best:
        value, values = _number(chosen), {_number(dict(other)[key]) for other in others}
        numbers = [each for each in values if each is not None]
        if value is None or len(numbers) < max(2, len(values)):
            continue
        for end, is_largest in ((min(numbers), False), (max(numbers), True)):
            if value == end and any(is_allowed(key, beyond) for beyond in _beyond(value, 1 if is_largest else -1)):
                found.append(Edge(key, value, is_largest))
    return found


def next_value(edge: Edge, given: Sequence[Plain]) -> float:
    """Beyond an edge: the next of the values given, else as far again.

    Steps grow by the ratio of the last two values; those that begin at 1, as a decay, by that of their excess.
    """
    numbers = sorted({each for value in given if (each := _number(value)) is not None})
    rest = [each for each in numbers if (each > edge.value if edge.is_largest else each < edge.value)]
    if rest:
        return rest[0] if edge.is_largest else rest[-1]
    floor = 1.0 if numbers[0] >= 1.0 and numbers[-1] < 2.0 else 0.0
    last, before = (numbers[-1], numbers[-2]) if edge.is_largest else (numbers[0], numbers[1])
    ratio = (last - floor) / (before - floor) if before > floor and last > floor else (2.0 if edge.is_largest else 0.5)
    value = float(f"{floor + (edge.value - floor) * ratio:.6g}")
    return round(value) if all(isinstance(each, int) for each in numbers) else value


def experiment_of(comparison: Comparison, cell: CompareCell) -> Experiment:
    """The experiment of a cell; ExperimentError says below which algorithm a mistake is."""
    overrides = [Override(tuple(key.split(".")), value) for key, value in cell.values]
    if cell.view.reading is not None:
        overrides += _standard(comparison, cell.view.reading, _load(comparison, cell, []).algorithm)
    return _load(comparison, cell, overrides)


def is_allowed(comparison: Comparison, cell: CompareCell, key: str, value: float) -> bool:
    values = tuple((other, value if other == key else known) for other, known in cell.values)
    try:
        experiment_of(comparison, replace(cell, values=values))
    except ExperimentError:
        return False
    return True


def _standard(comparison: Comparison, reading: StandardReading, algorithm: object) -> list[Override]:
    """Who cannot draw alone shares the draw where others are directed."""
    common = comparison.standardized
    span = common.period
    middle = (span.min + span.max) // 2
    period = Period(min=middle, max=middle) if reading.periods == "one" else span
    choices = get_args(get_type_hints(type(algorithm))["draw"])
    draw = reading.draw if reading.draw in choices else "shared"
    found = [
        Override(("period",), period.model_dump()),
        Override(("algorithm", "participation"), common.participation),
        Override(("algorithm", "draw"), draw),
    ]
    if hasattr(algorithm, "mixing") and reading.weights == "active":
        found.append(Override(("algorithm", "mixing"), "active"))
    return found


def _load(comparison: Comparison, cell: CompareCell, overrides: Sequence[Override]) -> Experiment:
    entry = comparison.entries[cell.algorithm]
    data: dict[str, Data] = {
        **comparison.base,
        "name": cell.name,
        "seed": cell.seed,
        "algorithm": entry.algorithm,
        "period": entry.period.model_dump(),
        "evaluate": {"every": comparison.check_every},
    }
    path, condition = comparison.path, comparison.condition(cell.condition)
    changed = [] if condition is None else condition.overrides(comparison.base)
    try:
        variants = load_data(data, path, [*changed, *overrides])
    except ExperimentError as error:
        raise ExperimentError(
            [_placed(problem, f"{path}: ", cell.algorithm, condition) for problem in error.problems]
        ) from None
    if len(variants) > 1:
        keys = ", ".join(f"{(condition and place_of(condition, key)) or ''}{key}" for key in swept_keys(variants))
        raise ExperimentError([f"{path}: {keys}: a list makes no sweep here; give one value, or a grid below tune"])
    return variants[0].experiment


def _placed(problem: str, file: str, algorithm: str, condition: CompareCondition | None) -> str:
    """A mistake in an experiment as one in the comparison file."""
    key = problem.removeprefix(file)
    place = f"algorithms.{algorithm}." if key.startswith(("algorithm", "period")) else "base."
    if condition is not None:
        place = place_of(condition, key.partition(":")[0]) or place
    return f"{file}{place}{key}"


def _beyond(value: float, way: int) -> Iterator[float]:
    """A little further; and one further, for a setting that counts (one that measures may be written as 1, too)."""
    yield value + way * _BEYOND * max(abs(value), _BEYOND)
    if isinstance(value, int):
        yield value + way


def _number(value: Plain) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
