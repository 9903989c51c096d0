"""The two lines of every comparison that exchange nothing: which steps are tried for them, and which is the best."""

from collections.abc import Sequence
from itertools import product

from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, Values
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.tune import score
from pame.baselines import Baseline
from pame.randomness import Key, Purpose, subset

_ETA = 0.1


def baseline_cells(comparison: Comparison) -> list[CompareCell]:
    """As many settings as for any algorithm, of all the steps that are tried for one."""
    grid = list(product(_values(comparison, "eta") or [_ETA], _values(comparison, "gamma") or [1.0]))
    runs, seed = comparison.tuning.runs, comparison.tuning.seed
    if len(grid) > runs:
        grid = [grid[place] for place in subset(Key(seed, Purpose.TUNING), len(grid), runs).tolist()]
    return [_cell(kind, (("eta", eta), ("gamma", gamma)), seed) for kind in Baseline for eta, gamma in grid]


def best_baselines(comparison: Comparison, rows: Sequence[CompareRow]) -> dict[Baseline, Values]:
    """The step of each that does best."""
    found = {}
    for kind in Baseline:
        mine = sorted((row for row in rows if row.cell.algorithm == kind.value), key=lambda row: str(row.cell.values))
        if mine:
            found[kind] = min(mine, key=lambda row: score(row, comparison.targets)).cell.values
    return found


def beyond_baselines(comparison: Comparison, rows: Sequence[CompareRow]) -> list[CompareCell]:
    """Half or twice the step, where the best one is the smallest or largest tried; bounded as for the algorithms."""
    cells = []
    for kind, values in best_baselines(comparison, rows).items():
        chosen = dict(values)
        mine = [dict(row.cell.values)["eta"] for row in rows if row.cell.algorithm == kind.value]
        eta, tried_etas = float(chosen["eta"] or 0.0), [float(value or 0.0) for value in mine]
        factor = 2.0 if eta == max(tried_etas) else 0.5
        left = len(baseline_cells(comparison)) // len(Baseline) + comparison.tuning.more - len(mine)
        if left > 0 and eta in (min(tried_etas), max(tried_etas)):
            cells.append(_cell(kind, (("eta", eta * factor), ("gamma", chosen["gamma"])), comparison.tuning.seed))
    return cells


def final_baselines(chosen: dict[Baseline, Values], seeds: Sequence[int]) -> list[CompareCell]:
    """On the seeds that are compared."""
    return [_cell(kind, values, seed) for seed in seeds for kind, values in chosen.items()]


def _cell(kind: Baseline, values: Values, seed: int) -> CompareCell:
    return CompareCell(kind.value, CompareView.AS_PUBLISHED, values, seed)


def _values(comparison: Comparison, name: str) -> list[float]:
    tunes = (entry.tune for entry in comparison.entries.values())
    return sorted(
        {float(value) for tune in tunes for key, some in tune.items() if key.endswith(f".{name}") for value in some}
    )
