"""The two lines of every comparison that exchange nothing: which steps are tried for them, and which is the best."""

from collections.abc import Sequence

from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, Plain, Values, sampled
from orchestrator.campaigns.compare.measure import CompareRow, of_cell
from orchestrator.campaigns.compare.tune import Choice, Trial, Trials, follow, judged, pick, widen
from pame.baselines import Baseline

_ETA = 0.1


def next_baselines(comparison: Comparison, done: Trials) -> list[Trial]:
    """What runs next, as for the algorithms: beyond the edges, then the chosen step to its end."""
    if not done:
        first = _first(comparison)
        return [Trial(_cell(kind, values, comparison.tuning.seed)) for kind in Baseline for values in first]
    rows, grid = judged(done), _grid(comparison)
    choices = choose_baselines(comparison, rows)
    budget = len(_first(comparison)) + comparison.tuning.more
    wider = [cell for choice in choices for cell in widen(choice, rows, grid, budget, _allowed)]
    return follow(choices, wider, done)


def choose_baselines(comparison: Comparison, rows: Sequence[CompareRow]) -> list[Choice]:
    found = []
    for kind in Baseline:
        mine = sorted(of_cell(rows, CompareView.AS_PUBLISHED, kind.value), key=lambda row: str(row.cell.values))
        if mine:
            found.append(pick(CompareView.AS_PUBLISHED, kind.value, mine, comparison.targets, _allowed))
    return found


def final_baselines(choices: Sequence[Choice], seeds: Sequence[int]) -> list[CompareCell]:
    return [_cell(Baseline(choice.algorithm), choice.values, seed) for seed in seeds for choice in choices]


def _first(comparison: Comparison) -> list[Values]:
    """As many settings as for any algorithm, of all the steps that are tried for one."""
    return sampled(_grid(comparison), comparison.tuning)


def _grid(comparison: Comparison) -> dict[str, list[Plain]]:
    """Of a single step, or none, twice as much as well: else there is no edge to go beyond."""
    etas = _values(comparison, "eta") or [_ETA]
    return {
        "eta": [*etas, *([2 * etas[0]] if len(etas) == 1 else [])],
        "gamma": [*(_values(comparison, "gamma") or [1.0])],
    }


def _allowed(_: CompareCell, key: str, value: float) -> bool:
    return value > 0.0 if key == "eta" else value >= 1.0


def _cell(kind: Baseline, values: Values, seed: int) -> CompareCell:
    return CompareCell(kind.value, CompareView.AS_PUBLISHED, values, seed)


def _values(comparison: Comparison, name: str) -> list[float]:
    tunes = (entry.tune for entry in comparison.entries.values())
    return sorted(
        {float(value) for tune in tunes for key, some in tune.items() if key.endswith(f".{name}") for value in some}
    )
