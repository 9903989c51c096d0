"""Whether a problem is what algorithms take it for: its gradient is that of its value, and nodes agree about it."""

from collections.abc import Iterator

import numpy as np

from orchestrator.cli.plugin_check.look import NotRight, PluginLook, look, place_of
from orchestrator.cli.plugin_check.rehearsal import NODES, Rehearsal, same_bits
from orchestrator.number_words import number
from pame.exchange import Vector
from pame.problems import Problem, StackedProblem
from pame.randomness import Key, Purpose, normals

_NUDGE, _CLOSE, _ROUNDING = 1e-6, 1e-4, 1e-9
_MOST = 20
"""Coordinates of which the gradient is compared."""
_STEP = 0.5
"""Of what the smoothness allows."""


def look_at_problem(rehearsal: Rehearsal) -> Iterator[PluginLook]:
    """What cannot be built has nothing more to look at."""
    made: list[Problem] = []
    first = look("built", lambda: _built(rehearsal, made))
    yield first
    if not first.is_right:
        return
    [problem] = made
    yield look("gradient", lambda: _gradient(problem))
    if isinstance(problem, StackedProblem):
        yield look("all nodes at once", lambda: _stacked(problem, problem))
    yield look("one step", lambda: _step(problem))
    yield look("the same bits", lambda: same_bits(rehearsal.simulated(), rehearsal.on_nodes()))


def _built(rehearsal: Rehearsal, made: list[Problem]) -> str:
    problem = rehearsal.setting().problem
    start = problem.start
    if start.shape != (problem.n,) or start.dtype != np.float64:
        raise NotRight(
            f"start has shape {start.shape} of {start.dtype}: give n = {problem.n} numbers of float64 "
            f"({place_of(type(problem), 'start')})"
        )
    made.append(problem)
    best = problem.optimum()
    known = "not known" if best is None else f"f* = {number(best.objective)}"
    return f"n = {number(problem.n)}, metric {problem.metric}, optimum {known}"


def _gradient(problem: Problem) -> str:
    """By central differences, at a few coordinates of every node."""
    for node in range(NODES):
        local, model = problem.local(node), _somewhere(problem)
        told, where = local.full_gradient(model), place_of(type(local), "full_gradient")
        if told.shape != model.shape or told.dtype != np.float64:
            raise NotRight(f"it has shape {told.shape} of {told.dtype}: give {model.shape} of float64 ({where})")
        for place in np.unique(np.linspace(0, problem.n - 1, _MOST).astype(int)):
            nudge = np.zeros(problem.n)
            nudge[place] = _NUDGE
            slope = (local.value(model + nudge) - local.value(model - nudge)) / (2 * _NUDGE)
            if not abs(slope - told[place]) <= _CLOSE * max(1.0, abs(slope)):
                raise NotRight(
                    f"coordinate {place} at node {node} is {number(float(told[place]))}, and the value has the slope "
                    f"{number(float(slope))}: full_gradient is not the gradient of value ({where})"
                )
    return "full_gradient is the slope of value, at every node"


def _stacked(problem: Problem, all_nodes: StackedProblem) -> str:
    """Equal to the nodes one by one up to rounding."""
    models = np.tile(_somewhere(problem), (NODES, 1))
    at_once = all_nodes.stacked().gradient(models, 0)
    one_by_one = np.stack([problem.local(node).gradient(models[node], 0) for node in range(NODES)])
    if not np.allclose(at_once, one_by_one, rtol=_ROUNDING, atol=_ROUNDING):
        where = place_of(type(all_nodes.stacked()), "gradient")
        raise NotRight(f"the gradient of stacked() is not that of the nodes: row i is node i ({where})")
    return "stacked() has the gradients of the nodes"


def _step(problem: Problem) -> str:
    """A gradient step on f, as long as the smoothness allows."""
    start = problem.start
    slope = np.mean([problem.local(node).full_gradient(start) for node in range(NODES)], axis=0)
    bounds = [problem.local(node).smoothness() for node in range(NODES)]
    length = _STEP / max((bound for bound in bounds if bound), default=1.0)
    before, now = problem.objective(start), problem.objective(start - length * slope)
    if not now < before:
        where = place_of(type(problem), "objective")
        raise NotRight(
            f"f goes from {number(before)} to {number(now)} by a step of {length:.3g} against the gradient: objective "
            f"is the mean of the values of the nodes, and smoothness a bound of the curvature ({where})"
        )
    return f"f goes from {number(before)} to {number(now)}"


def _somewhere(problem: Problem) -> Vector:
    found: Vector = problem.start + 0.1 * normals(Key(1, Purpose.FEATURES, 0), problem.n)
    return found
