"""The step of PaME and of D-PSGD, each tuned with the same grid and the same budget, on a seed that nothing else uses.

Both begin with the same five values around the step of the base experiment, without trouble. As long as the best is the
smallest or the largest tried, one more is tried beyond it, at most three times. The best reaches the target soonest;
one that diverges, however late, comes last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from orchestrator.experiment import Experiment
from orchestrator.studies.grid import DPSGD, PAME, Cell, Steps, Study, eta_of
from orchestrator.studies.measure import Row

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
MORE = 3
Run = Callable[[Sequence[Cell]], Sequence[Row]]
"""What becomes of some cells, in their order."""


@dataclass(frozen=True)
class Tuned:
    """What was tried for an algorithm, and what is the best of it."""

    algorithm: str
    tried: tuple[tuple[float, Row], ...]
    """eta and its run, ascending."""

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

    def plain(self) -> dict[str, object]:
        """For JSON."""
        tried = [
            {"eta": eta, "status": row.status, "seconds_to_target": row.seconds_to_target, "left": row.left}
            for eta, row in self.tried
        ]
        return {"algorithm": self.algorithm, "eta": self.eta, "is_edge": self.beyond is not None, "tried": tried}


def tune(study: Study, base: Experiment, run: Run) -> tuple[Tuned, ...]:
    """PaME and D-PSGD, in this order."""
    names = (PAME, DPSGD)
    found: dict[str, dict[float, Row]] = {name: {} for name in names}
    wanted = {name: [factor * eta_of(base) for factor in FACTORS] for name in names}
    for _ in range(1 + MORE):
        asked = [(name, eta) for name in names for eta in wanted[name]]
        rows = run([study.tuning_cell(base, name, eta) for name, eta in asked]) if asked else ()
        for (name, eta), row in zip(asked, rows, strict=True):
            found[name][eta] = row
        beyond = {name: Tuned(name, tuple(sorted(found[name].items()))).beyond for name in names}
        wanted = {name: [] if eta is None else [eta] for name, eta in beyond.items()}
    return tuple(Tuned(name, tuple(sorted(found[name].items()))) for name in names)


def steps_of(tuned: Sequence[Tuned]) -> Steps:
    """The best of both."""
    pame, dpsgd = tuned
    return Steps(pame.eta, dpsgd.eta)


def _score(row: Row) -> tuple[bool, float, float]:
    """The lower, the better."""
    return (
        row.status != "finished",
        inf if row.seconds_to_target is None else row.seconds_to_target,
        inf if row.left is None else row.left,
    )
