"""The step of PaME and of D-PSGD, each tuned with the same grid and the same budget, on seeds that nothing else uses.

Both begin with the same five values around the step of the base experiment, without trouble. As long as the best is the
smallest or the largest tried, one more is tried beyond it, at most three times. The best reaches the target with most
seeds, then soonest; one that diverges with any of them, however late, comes last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf
from statistics import fmean

from orchestrator.campaigns.cell import Stages
from orchestrator.campaigns.studies.grid import DPSGD, PAME, Study, StudyCell, step_of
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.experiment import Experiment

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
MORE = 3


@dataclass(frozen=True)
class Tuned:
    """What was tried for an algorithm, and what is the best of it."""

    algorithm: str
    tried: tuple[tuple[float, tuple[StudyRow, ...]], ...]
    """eta and its runs, ascending."""

    @property
    def eta(self) -> float:
        """The best; of equals the smaller."""
        return min(self.tried, key=lambda each: _score(each[1]))[0]

    @property
    def beyond(self) -> float | None:
        """What is to be tried next; None: the best has worse ones on both sides."""
        etas = [eta for eta, _ in self.tried]
        if self.eta == etas[0]:
            return etas[0] / 2
        return etas[-1] * 2 if self.eta == etas[-1] else None

    @property
    def words(self) -> str:
        """What was chosen, and out of what."""
        edge = "" if self.beyond is None else "; still the smallest or largest tried"
        return f"{self.eta:g}, of {', '.join(f'{eta:g}' for eta, _ in self.tried)}{edge}"

    def plain(self) -> dict[str, object]:
        tried = [
            {"eta": eta, "seconds_to_target": [row.held_s for row in rows], "left": [row.left for row in rows]}
            for eta, rows in self.tried
        ]
        return {"algorithm": self.algorithm, "eta": self.eta, "is_edge": self.beyond is not None, "tried": tried}


def tune(
    study: Study, base: Experiment, runs_of: Callable[[list[StudyCell]], Stages[list[StudyRow]]]
) -> Stages[tuple[Tuned, ...]]:
    """PaME and D-PSGD, in this order; `runs_of` some cells, in their order."""
    found: dict[str, dict[float, tuple[StudyRow, ...]]] = {PAME: {}, DPSGD: {}}
    wanted = [(name, factor * step_of(base).eta) for name in found for factor in FACTORS]
    tuned: tuple[Tuned, ...] = ()
    for _ in range(1 + MORE):
        cells = [cell for name, eta in wanted for cell in study.tuning_cells(base, name, eta)]
        rows = iter((yield from runs_of(cells)) if cells else ())
        for name, eta in wanted:
            found[name][eta] = tuple(islice(rows, len(study.tuning_seeds)))
        tuned = tuple(Tuned(name, tuple(sorted(tried.items()))) for name, tried in found.items())
        wanted = [(each.algorithm, each.beyond) for each in tuned if each.beyond is not None]
    return tuned


def fewest_tries(study: Study) -> int:
    return 2 * len(FACTORS) * len(study.tuning_seeds)


def _score(rows: Sequence[StudyRow]) -> tuple[bool, int, float, float]:
    """The lower, the better."""
    times = [row.held_s for row in rows if row.held_s is not None]
    return (
        any(row.status != "finished" for row in rows),
        -len(times),
        fmean(times) if times else inf,
        fmean(inf if row.left is None else row.left for row in rows),
    )
