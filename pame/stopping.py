"""When a run ends: iterations, a target value, an accuracy, the paper's rule, simulated seconds.

The paper's rule: the standard deviation of the last three f(mean model) is below a tolerance. It fires early for
whoever is checked most often, so its checking period is explicit and the same for all that are compared.
"""

from collections import deque
from dataclasses import dataclass
from math import inf
from statistics import pstdev
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

from pame.units import Count, Seconds

NO_LIMIT = 2**32 - 1
"""The last iteration of a run that only its seconds end: beyond all that is ever done."""
_LAST = 3


@dataclass(frozen=True)
class PaperRule:
    """The paper's rule: stop when the last three f(mean model) hardly differ.

    tolerance: their (population) standard deviation is below this
    every: checked every so many iterations
    """

    tolerance: Annotated[float, Ge(0)] = 1e-3
    every: Count = 1


@dataclass(frozen=True)
class StopRules:
    """When a run ends: whichever comes first.

    iterations: after so many iterations; if only seconds are given, there is no such limit
    target: when f(mean model) is at or below this
    objective: what f is for these rules: the mean of the nodes' objectives, or their sum, as in the paper
    paper: when the paper's rule says so
    seconds: after so much time: simulated in the simulator, real on a network, where there is always a limit (one hour)
    accuracy: when the test accuracy of the mean model is at or above this share
    """

    iterations: Count | None = 300
    target: float | None = None
    objective: Literal["mean", "sum"] = "mean"
    paper: PaperRule | None = None
    seconds: Seconds | None = None
    accuracy: Annotated[float, Gt(0), Le(1)] | None = None

    @property
    def last_iteration(self) -> int:
        return NO_LIMIT if self.iterations is None else self.iterations

    @property
    def limit_s(self) -> float:
        return inf if self.seconds is None else self.seconds

    @property
    def by_seconds_alone(self) -> bool:
        return self.last_iteration == NO_LIMIT


class Stopper:
    def __init__(self, rules: StopRules, nodes: int, of_nodes: bool = False) -> None:
        """`of_nodes`: the target is of the mean over the nodes of f at their own models, not of f(mean model)."""
        self.rules = rules
        self._scale = nodes if rules.objective == "sum" else 1
        self._of_nodes = of_nodes
        self._last: deque[float] = deque(maxlen=_LAST)

    def due(self, iteration: int) -> bool:
        paper = self.rules.paper
        return iteration == self.rules.last_iteration or (paper is not None and iteration % paper.every == 0)

    def reason(self, iteration: int, objective: float, accuracy: float | None = None) -> str | None:
        """Why the run ends at these values, or None if it goes on."""
        rules = self.rules
        if rules.accuracy is not None and accuracy is not None and accuracy >= rules.accuracy:
            return f"the test accuracy of the mean model reached {rules.accuracy:.4g}"
        objective *= self._scale
        if rules.target is not None and objective <= rules.target:
            what = "f at the nodes' own models" if self._of_nodes else "f(mean model)"
            return f"{what} reached the target {rules.target:g}"
        if rules.paper is not None and iteration % rules.paper.every == 0:
            self._last.append(objective)
            if len(self._last) == _LAST and pstdev(self._last) < rules.paper.tolerance:
                return (
                    f"the standard deviation of the last three f(mean model) fell below {rules.paper.tolerance:g} "
                    f"(checked every {rules.paper.every} iterations)"
                )
        return f"{rules.iterations} iterations done" if iteration >= rules.last_iteration else None
