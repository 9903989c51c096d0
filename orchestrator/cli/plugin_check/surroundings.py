"""Whether a topology makes graphs and a fault makes a plan, the same ones for the same seed, and can be run."""

from collections.abc import Iterator

import numpy as np

from orchestrator.cli.plugin_check.look import NotRight, PluginLook, look
from orchestrator.cli.plugin_check.rehearsal import Rehearsal, same_bits
from orchestrator.experiment.faults.plan_words import when, words
from orchestrator.number_words import count, listed

_SIZES = (4, 8, 16)
_SHOWN = 3


def look_at_topology(rehearsal: Rehearsal) -> Iterator[PluginLook]:
    yield look("graphs", lambda: _graphs(rehearsal))
    yield look("the same bits", lambda: same_bits(rehearsal.simulated(), rehearsal.on_nodes()))


def look_at_fault(rehearsal: Rehearsal) -> Iterator[PluginLook]:
    plan = look("plan", lambda: _plan(rehearsal))
    yield plan
    if plan.is_right:
        yield look("a run with it", lambda: _struck(rehearsal))


def _graphs(rehearsal: Rehearsal) -> str:
    """Of some sizes; that a graph is whole is checked where it is built."""
    told = []
    for nodes in _SIZES:
        one, again = (rehearsal.setting(nodes=nodes).topology for _ in range(2))
        if not np.array_equal(one.edges, again.edges):
            raise NotRight("the same seed gives another graph: draw from pame.randomness with the seed alone")
        told.append(f"{nodes} nodes have {count(len(one.edges), 'edge')}")
    return ", ".join(told)


def _plan(rehearsal: Rehearsal) -> str:
    one, again = (rehearsal.setting().plan for _ in range(2))
    if one != again:
        raise NotRight("the same seed gives another plan: draw from pame.randomness with the seed alone")
    if not one:
        raise NotRight("it does nothing in this run: give it times and nodes or links by --set 'faults=[{kind: ...}]'")
    return listed([f"{when(event)}: {words(event)}" for event in one], _SHOWN)


def _struck(rehearsal: Rehearsal) -> str:
    """Simulated, to its end."""
    run = rehearsal.simulated()
    if not np.isfinite(run.models).all():
        raise NotRight("the models are no longer finite after it")
    lost = f", and {count(run.lost, 'message')} got lost" if run.lost else ""
    return f"it goes on to its end{lost}"
