"""The claim of a linear rate: log suboptimality against k is a straight line, and it leads to the optimum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from statistics import median

import numpy as np

from orchestrator.claims.charts import lines
from orchestrator.claims.claim import Claim, Experiments, Found, Mode, Run
from orchestrator.claims.course import Course, Mark
from orchestrator.studies.verdict import Finding

_BASE = """
nodes: 32
topology: {kind: random-regular, degree: 10}
problem: {kind: linear, n: 100, samples: 150, noise: 0.5, test_samples: 1}
algorithm:
  kind: pame
  participation: 0.2
  support: 0.2
  step: {kind: fixed, eta: 0.055, gamma: 1.0}
period: 3..7
evaluate: {every: 5}
stop: {iterations: 2000}
simulate: {driver: vectorised}
"""
_GAMMAS = {Mode.QUICK: ("1", "1.001", "1.005"), Mode.FULL: ("1", "1.0005", "1.001", "1.005", "1.01")}
_DATA = {"alike": "problem.truth_shift=0", "different": "problem.truth_shift=0.3"}
_FROM = 0.5
_ABOVE_FLOOR = 3.0
_STRAIGHT = 0.98
_SPAN = 10.0
_OPTIMUM = 1e-6


def _run(gamma: str, data: str) -> Run:
    words = f"gamma = {gamma}, data {data}"
    return Run(f"{gamma}_{data}", words, (f"algorithm.step.gamma={gamma}", _DATA[data]))


def _runs(mode: Mode) -> tuple[Run, ...]:
    return tuple(_run(gamma, data) for data in _DATA for gamma in _GAMMAS[mode])


@dataclass(frozen=True)
class Fit:
    """A straight line through log suboptimality against iterations."""

    rate: float
    """What an iteration leaves of the suboptimality."""
    r2: float
    span: float
    """How many times smaller the last is than the first."""


def fit(course: Course) -> Fit | None:
    """Over the middle part: from half of the way on, down to a little above the lowest point."""
    marks = _middle(course.marks)
    if len(marks) < 3:
        return None
    k = np.array([mark.iteration for mark in marks], np.float64)
    y = np.array([log(mark.left or 0.0) for mark in marks])
    slope, offset = np.polyfit(k, y, 1)
    rest, spread = float(((y - slope * k - offset) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
    return Fit(float(np.exp(slope)), 1.0 - rest / spread if spread else 0.0, float(np.exp(y[0] - y[-1])))


def _middle(marks: Sequence[Mark]) -> list[Mark]:
    known = [mark for mark in marks if mark.left is not None and mark.left > 0]
    lowest = min((mark.left or 0.0 for mark in known), default=0.0)
    begin = next((place for place, mark in enumerate(known) if (mark.left or 0.0) <= _FROM), len(known))
    end = next((place for place, mark in enumerate(known) if (mark.left or 0.0) <= _ABOVE_FLOOR * lowest), len(known))
    return known[begin : end + 1]


def judge_rate(found: Found) -> list[Finding]:
    """For every gamma, with data alike and different."""
    return [finding for run in _runs(Mode.FULL) for finding in _on(found.of(run.key), run.words)]


def _on(courses: Sequence[Course], words: str) -> Iterator[Finding]:
    if not courses:
        return
    fits = [fit(course) for course in courses]
    known = [one for one in fits if one is not None]
    if len(known) < len(fits):
        yield Finding(f"{words}: a straight line", False, "it does not get half of the way, or diverges")
    else:
        rate, r2, span = (median(part) for part in zip(*((one.rate, one.r2, one.span) for one in known), strict=True))
        evidence = f"R² {r2:.4f} over a factor of {span:.3g}; an iteration leaves {rate:.4f}"
        yield Finding(f"{words}: a straight line", r2 >= _STRAIGHT and span >= _SPAN and rate < 1.0, evidence)
    lowest = median(min((m.left for m in course.marks if m.left is not None), default=1.0) for course in courses)
    yield Finding(f"{words}: to the optimum", lowest <= _OPTIMUM, f"lowest suboptimality {lowest:.2g}")


LINEAR_RATE = Claim(
    key="linear-rate",
    title="Linear rate",
    statement="PaME converges at a linear rate, also when the nodes' data differ.",
    criterion=f"from suboptimality {_FROM:g} down to {_ABOVE_FLOOR:g} times its lowest, log suboptimality against k is "
    f"a straight line (R² at least {_STRAIGHT:g}, over a factor of at least {_SPAN:g}), and it leads to the optimum: "
    f"suboptimality {_OPTIMUM:g} within 2000 iterations (medians over seeds)",
    source=Experiments(_BASE, _runs),
    judge=judge_rate,
    figure=lines(_runs(Mode.FULL)),
    remark="Strongly convex at every node, whole local batches: the best case. The two halves of the criterion are "
    "judged apart: a line that ends at a floor, where gamma froze the step or the nodes disagree for ever, is linear "
    "convergence to a neighbourhood only.",
)
