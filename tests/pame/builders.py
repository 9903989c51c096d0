"""A resolved run for tests of every layer."""

from dataclasses import replace
from typing import Any

from pame import problems, topology
from pame.algorithms import AlgorithmSpec, PameSpec
from pame.problems import ProblemSpec
from pame.resolved_run import ResolvedRun
from pame.stopping import StopRules
from pame.topology import TopologySpec
from pame.topology.kinds import Complete


def small_run(
    problem: ProblemSpec,
    algorithm: AlgorithmSpec | None = None,
    graph: TopologySpec | None = None,
    nodes: int = 3,
    seed: int = 5,
    iterations: int = 20,
    **changes: Any,
) -> ResolvedRun:
    """Everybody knows everybody and has a round at every iteration, unless told otherwise."""
    made = ResolvedRun(
        seed=seed,
        topology=topology.build(graph or Complete(), nodes, seed, None),
        problem=problems.build(problem, nodes, seed),
        algorithm=algorithm or PameSpec(),
        periods=(1,) * nodes,
        stop=StopRules(iterations),
    )
    return replace(made, **changes)
