"""What a client with the token can ask for, decided from the experiment alone, before anything is drawn.

Every refusal names a key and a value that works. The limits are far above what a testbed of real nodes is for.
"""

import os
from collections.abc import Iterator
from math import ceil

from orchestrator.experiment import Experiment, ExperimentError
from orchestrator.experiment.cost import Cost, cost_of
from orchestrator.experiment.resolve import HARD_STOP_S

MOST_NODES = 10_000
MOST_EDGES = 500_000
"""Some seconds to draw, at the worst."""
MOST_RECORDS = 200_000_000
"""About 20 GB on the disk."""
MOST_EVALUATIONS = 5_000_000
MOST_OPERATIONS = 10**15
"""Some days of one core."""
MOST_FAULTS = 1000
MOST_LINK_LOOKS = 10**8
"""Entries of `links.nodes` times edges: each is asked of every link."""
MEMORY_SHARE = 0.75
"""Of the machine: the rest is for the system and for what is not estimated."""


def refuse_too_much(experiment: Experiment, memory_bytes: int | None = None) -> None:
    """ExperimentError with a line for everything that is too much; `memory_bytes`: what the machine has."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if memory_bytes is None else memory_bytes
    seconds = HARD_STOP_S if experiment.stop.seconds is None else experiment.stop.seconds
    if problems := list(_problems(experiment, cost_of(experiment, seconds), there)):
        raise ExperimentError(problems)


def _problems(experiment: Experiment, cost: Cost, memory_bytes: int) -> Iterator[str]:
    nodes, stop = experiment.nodes, experiment.stop
    if nodes > MOST_NODES:
        yield f"nodes: {nodes}, and this orchestrator takes at most {MOST_NODES}"
    if cost.edges > MOST_EDGES:
        fewer = int(nodes * (MOST_EDGES / cost.edges) ** 0.5)
        yield (
            f"topology: about {cost.edges} edges, and this orchestrator takes at most {MOST_EDGES}: make it sparser, "
            f"or give nodes: {max(2, fewer)}"
        )
    if cost.records > MOST_RECORDS:
        limit = "no limit" if stop.iterations is None else str(stop.iterations)
        yield (
            f"stop.iterations: {limit}, and {nodes} nodes, can be {cost.records} records, and this orchestrator "
            f"takes at most {MOST_RECORDS}: give at most {MOST_RECORDS // nodes}"
        )
    if len(experiment.faults or ()) > MOST_FAULTS:
        yield f"faults: {len(experiment.faults or ())}, and this orchestrator takes at most {MOST_FAULTS}"
    entries = len(experiment.links.nodes or ()) if experiment.links else 0
    if entries * cost.edges > MOST_LINK_LOOKS:
        yield f"links.nodes: {entries} entries for {cost.edges} edges: give at most {MOST_LINK_LOOKS // cost.edges}"
    room = int(MEMORY_SHARE * memory_bytes)
    if cost.bytes > room:
        n = getattr(experiment.problem, "n", None)
        smaller = f"problem.samples smaller, or give problem.n: {max(1, n * room // (cost.bytes + 1))}" if n else ""
        yield (
            f"problem: data and models take {cost.bytes / 2**30:.3g} GiB, and this orchestrator has "
            f"{room / 2**30:.3g} GiB for them: make nodes or {smaller or 'problem.model smaller'}"
        )
    times = max(cost.evaluations / MOST_EVALUATIONS, cost.operations / MOST_OPERATIONS)
    if times > 1:
        rule = "stop.paper.every" if stop.paper and stop.paper.every < experiment.evaluate.every else "evaluate.every"
        every = stop.paper.every if stop.paper and rule == "stop.paper.every" else experiment.evaluate.every
        yield (
            f"{rule}: {cost.evaluations} evaluations are more than this orchestrator does for one run: give at least "
            f"{min(ceil(2 * times * every), 10**9)}"
        )
