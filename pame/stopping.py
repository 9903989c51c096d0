"""When a run ends: iterations, a target value, the paper's rule, simulated seconds.

The paper's rule: the standard deviation of the last three f(mean model) is below a tolerance. It fires early for
whoever is checked most often, so its checking period is explicit and the same for all that are compared.
"""

from collections import deque
from dataclasses import dataclass
from math import inf
from statistics import pstdev

NO_LIMIT = 2**32 - 1
"""Iterations of a run that only its seconds end: the largest number that an assignment can carry."""
_LAST = 3


@dataclass(frozen=True)
class PaperRule:
    """(Population) standard deviation of the last three values below `tolerance`, checked every `every` iterations."""

    tolerance: float = 1e-3
    every: int = 1


@dataclass(frozen=True)
class StopRules:
    """Whatever comes first; `iterations` is always there, `NO_LIMIT` if only seconds end the run."""

    iterations: int
    target: float | None = None
    scale: int = 1
    """What f, a mean over the nodes, is multiplied with before the rules look at it: the paper's f is a sum."""
    paper: PaperRule | None = None
    seconds: float = inf
    of_nodes: bool = False
    """Whether the target is of the mean over the nodes of f at their own models, not of f(mean model)."""

    @property
    def by_seconds_alone(self) -> bool:
        """Whether no number of iterations ends the run."""
        return self.iterations == NO_LIMIT


class Stopper:
    """Looks at the values of one run as they come."""

    def __init__(self, rules: StopRules) -> None:
        self.rules = rules
        self._last: deque[float] = deque(maxlen=_LAST)

    def due(self, iteration: int) -> bool:
        """Whether the rules want f(mean model) at this iteration."""
        paper = self.rules.paper
        return iteration == self.rules.iterations or (paper is not None and iteration % paper.every == 0)

    def reason(self, iteration: int, objective: float) -> str | None:
        """Why the run ends at this value, or None if it goes on."""
        rules = self.rules
        objective *= rules.scale
        if rules.target is not None and objective <= rules.target:
            what = "f at the nodes' own models" if rules.of_nodes else "f(mean model)"
            return f"{what} reached the target {rules.target:g}"
        if rules.paper is not None and iteration % rules.paper.every == 0:
            self._last.append(objective)
            if len(self._last) == _LAST and pstdev(self._last) < rules.paper.tolerance:
                return (
                    f"the standard deviation of the last three f(mean model) fell below {rules.paper.tolerance:g} "
                    f"(checked every {rules.paper.every} iterations)"
                )
        return f"{rules.iterations} iterations done" if iteration >= rules.iterations else None
