"""What a comparison runs: cells, each an algorithm in a view with the tuned values and a seed.

as-published   every algorithm with its own period, and its own choice of neighbours
standardized   the same period and participation for all; an edge takes part only when both of its ends drew it
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product

from orchestrator.compare.file import Comparison, Entry
from orchestrator.experiment import Experiment, ExperimentError, load_data, swept_keys
from orchestrator.experiment.model import Period
from orchestrator.experiment.overrides import Override
from orchestrator.experiment.text import Data
from pame.randomness import Key, Purpose, subset

Plain = str | int | float | bool | None
Values = tuple[tuple[str, Plain], ...]
"""What was tuned, by dotted key."""
_BEYOND = 1e-6


class View(Enum):
    """Under which conditions the algorithms are compared."""

    AS_PUBLISHED = "as-published"
    STANDARDIZED = "standardized"


@dataclass(frozen=True)
class Cell:
    """One run."""

    algorithm: str
    view: View
    values: Values
    seed: int

    @property
    def name(self) -> str:
        """For folders and people."""
        return f"{self.algorithm}_{self.view.value}_seed-{self.seed}"


@dataclass(frozen=True)
class Edge:
    """A tuned value that is the smallest or the largest of those tried, though the setting could go on."""

    key: str
    value: float
    is_largest: bool

    @property
    def words(self) -> str:
        """In a sentence."""
        name, end = self.key.rpartition(".")[2], "largest" if self.is_largest else "smallest"
        return f"the best {name}, {self.value:g}, is the {end} tried"


def tried(comparison: Comparison, algorithm: str) -> list[Values]:
    """The settings that are tried: the whole grid, or a seeded sample of as many as the budget allows."""
    tune = comparison.entries[algorithm].tune
    grid = [tuple(zip(tune, values, strict=True)) for values in product(*tune.values())]
    tuning = comparison.tuning
    if len(grid) <= tuning.runs:
        return grid
    # tuning happens in the simulator, which never draws links to verify
    return [grid[place] for place in subset(Key(tuning.seed, Purpose.TUNING), len(grid), tuning.runs).tolist()]


def tuning_cells(comparison: Comparison) -> list[Cell]:
    """Every setting that is tried, in both views."""
    return [
        Cell(algorithm, view, values, comparison.tuning.seed)
        for view in View
        for algorithm in comparison.entries
        for values in tried(comparison, algorithm)
    ]


def final_cells(chosen: Mapping[tuple[View, str], Values], seeds: Sequence[int]) -> list[Cell]:
    """The chosen settings on fresh seeds; seed by seed, so that one is complete before the next begins."""
    return [Cell(algorithm, view, values, seed) for seed in seeds for (view, algorithm), values in chosen.items()]


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


def experiment_of(comparison: Comparison, cell: Cell) -> Experiment:
    """The experiment of a cell; ExperimentError says below which algorithm a mistake is."""
    entry = comparison.entries[cell.algorithm]
    overrides = [Override(tuple(key.split(".")), value) for key, value in cell.values]
    if cell.view is View.STANDARDIZED:
        published = _load(comparison, cell, entry, [])
        overrides += _standard(comparison, published.algorithm)
    return _load(comparison, cell, entry, overrides)


def is_allowed(comparison: Comparison, cell: Cell, key: str, value: float) -> bool:
    """Whether an algorithm's setting may have this value."""
    values = tuple((other, value if other == key else known) for other, known in cell.values)
    try:
        experiment_of(comparison, Cell(cell.algorithm, cell.view, values, cell.seed))
    except ExperimentError:
        return False
    return True


def _standard(comparison: Comparison, algorithm: object) -> list[Override]:
    common = comparison.standardized
    found = [Override(("period",), _plain(common.period))]
    if hasattr(algorithm, "participation"):
        found.append(Override(("algorithm", "participation"), common.participation))
    if hasattr(algorithm, "mutual"):
        found.append(Override(("algorithm", "mutual"), True))
    return found


def _load(comparison: Comparison, cell: Cell, entry: Entry, overrides: Sequence[Override]) -> Experiment:
    data: dict[str, Data] = {
        **comparison.base,
        "name": cell.name,
        "seed": cell.seed,
        "algorithm": entry.algorithm,
        "period": _plain(entry.period),
        "evaluate": {"every": comparison.check_every},
    }
    path = comparison.path
    try:
        variants = load_data(data, path, overrides)
    except ExperimentError as error:
        raise ExperimentError([_placed(problem, f"{path}: ", cell.algorithm) for problem in error.problems]) from None
    if len(variants) > 1:
        keys = ", ".join(swept_keys(variants))
        raise ExperimentError([f"{path}: {keys}: a list makes no sweep here; give one value, or a grid below tune"])
    return variants[0].experiment


def _placed(problem: str, file: str, algorithm: str) -> str:
    """A mistake in an experiment as one in the comparison file."""
    key = problem.removeprefix(file)
    place = f"algorithms.{algorithm}." if key.startswith(("algorithm", "period")) else "base."
    return f"{file}{place}{key}"


def _beyond(value: float, way: int) -> Iterator[float]:
    """A little further; and one further, for a setting that counts (one that measures may be written as 1, too)."""
    yield value + way * _BEYOND * max(abs(value), _BEYOND)
    if isinstance(value, int):
        yield value + way


def _plain(period: Period) -> Data:
    return {"min": period.min, "max": period.max}


def _number(value: Plain) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
