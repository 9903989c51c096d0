"""The answer to a fault by hand: what its nodes say has begun, and what failed; waited for, but not for ever."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestrator.control.run_phase import Phase
from orchestrator.control.run_state import NetworkRunState
from orchestrator.experiment.faults import kind_of, words
from orchestrator.experiment.faults.happened import Told, node_names
from pame.fault_effects import FaultEvent, Plan, StoppingEffect, is_by_docker

SOON_S = 3.0
"""What begins later is not waited for."""
_WAIT_S = 10.0
_SETTLE_S = 1.0
"""A node tells before it asks its supervisor to stop it: so long a refusal may take."""
_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class ManualFaultAnswer:
    """Sentences for people, and the nodes that said nothing."""

    begun: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    silent: tuple[int, ...] = ()


async def answer(run: NetworkRunState, plan: Plan) -> ManualFaultAnswer:
    """When all who act in what begins soon have told, or the time for it is over, or the run is; to be asked for at
    once, before anybody can have told."""
    before = len(run.told)
    due = [event for event in plan if _is_soon(event, run)]
    if not due:
        return ManualFaultAnswer()
    by_docker = {node for event in due if is_by_docker(event) for node in event.acting}
    """Of them the orchestrator tells."""
    now = run.seconds()
    deadline = max([now, *(event.window.begin for event in due if event.window.unit == "seconds")]) + _WAIT_S
    while run.phase is Phase.RUNNING and run.seconds() < deadline:
        silent = set(injection(due, run.told[before:]).silent) & (run.indices.alive() | by_docker)
        if not silent and any(_is_order(event) for event in due):
            deadline = min(deadline, run.seconds() + _SETTLE_S)
        elif not silent:
            break
        await asyncio.sleep(_LOOK_S)
    return injection(due, run.told[before:])


def injection(due: Sequence[FaultEvent], told: Iterable[Told]) -> ManualFaultAnswer:
    """What has been said of these events so far; a node's last word counts."""
    last = {(word.number, word.node, word.planned): word for word in told if word.begins}
    begun, failures, silent = [], [], set()
    for event in due:
        done: dict[str, list[int]] = defaultdict(list)
        refused: dict[str, list[int]] = defaultdict(list)
        for node in event.acting:
            word = last.get((event.number, node, event.window.begin))
            if word is None:
                silent.add(node)
            elif word.failure:
                refused[word.failure].append(node)
            else:
                done[word.mechanism].append(node)
        begun += [f"{words(event)}: begun at {node_names(who)} ({how})" for how, who in done.items()]
        failures += [f"{kind_of(event)} at {node_names(who)} failed: {why}" for why, who in refused.items()]
    return ManualFaultAnswer(tuple(begun), tuple(failures), tuple(sorted(silent)))


def _is_soon(event: FaultEvent, run: NetworkRunState) -> bool:
    if event.window.unit == "seconds":
        return event.window.begin <= run.seconds() + SOON_S
    return any(run.collection.iterations[node] >= event.window.begin for node in event.acting)


def _is_order(event: FaultEvent) -> bool:
    return isinstance(event.effect, StoppingEffect) and not is_by_docker(event)
