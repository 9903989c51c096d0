"""The two lines of every comparison that exchange nothing: which steps are tried for them."""

from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import CompareCell, CompareView
from orchestrator.campaigns.compare.tune import Tunable
from pame.baselines import Baseline

_ETA = 0.1


def tunable_baselines(comparison: Comparison) -> list[Tunable]:
    """As many settings as for any algorithm, of all the steps that are tried for one. Of a single step, or none, twice
    as much as well: else there is no edge to go beyond."""
    etas = _values(comparison, "eta") or [_ETA]
    grid = {
        "eta": [*etas, *([2 * etas[0]] if len(etas) == 1 else [])],
        "gamma": [*(_values(comparison, "gamma") or [1.0])],
    }
    return [Tunable(CompareView.AS_PUBLISHED, kind.value, grid, _allowed) for kind in Baseline]


def _allowed(_: CompareCell, key: str, value: float) -> bool:
    return value > 0.0 if key == "eta" else value >= 1.0


def _values(comparison: Comparison, name: str) -> list[float]:
    tunes = (entry.tune for entry in comparison.entries.values())
    return sorted(
        {float(value) for tune in tunes for key, some in tune.items() if key.endswith(f".{name}") for value in some}
    )
