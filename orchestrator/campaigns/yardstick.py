"""The relative suboptimality (f - f*) / (f(0) - f*), from 1 at the start to 0; problems and optima are kept for the
next run of the same data.

Cells of one problem and seed follow each other in a process: the last one drawn, and its optimum, are worth keeping.
"""

from dataclasses import dataclass

from contract.problem_inputs import build_problem
from pame.problems import Optimum, Problem, ProblemSpec, known_optimum
from pame.resolved_run import ResolvedRun

_drawn: dict[tuple[str, int, int], Problem] = {}
_solved: list[tuple[Problem, Optimum | None]] = []


@dataclass(frozen=True)
class Yardstick:
    """f at the start and at the optimum."""

    start: float
    best: float

    def left(self, objective: float) -> float:
        return (objective - self.best) / (self.start - self.best)

    def objective(self, left: float) -> float:
        """f at a relative suboptimality."""
        return self.best + left * (self.start - self.best)


def draw_problem(spec: ProblemSpec, nodes: int, seed: int) -> Problem:
    """The data of all nodes; that of the last call again, if it is the same."""
    key = (repr(spec), nodes, seed)
    if key not in _drawn:
        _drawn.clear()  # before the next is drawn: two may not fit into the memory
        _solved.clear()
        _drawn[key] = build_problem(spec, nodes, seed)
    return _drawn[key]


def optimum_of(problem: Problem) -> Optimum:
    """Solved once for a problem; ParameterError if nobody knows it."""
    return known_optimum(problem) if (optimum := _optimum(problem)) is None else optimum


def yardstick_of(setting: ResolvedRun) -> Yardstick:
    return Yardstick(setting.problem.objective(setting.start), optimum_of(setting.problem).objective)


def yardstick_if_known(setting: ResolvedRun) -> Yardstick | None:
    """None: nobody knows the optimum."""
    return None if _optimum(setting.problem) is None else yardstick_of(setting)


def _optimum(problem: Problem) -> Optimum | None:
    if not _solved or _solved[0][0] is not problem:
        _solved[:] = [(problem, problem.optimum())]
    return _solved[0][1]
