"""Faults by hand, into a run that goes on: refused before any node hears of them if its nodes cannot carry them out,
then answered by what these say has begun, and what failed; waited for, but not for ever."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from contract.rpc import control_pb2 as pb
from contract.rpc import experiments_pb2
from orchestrator.control.abilities import require_orders
from orchestrator.control.container_faults import require_docker
from orchestrator.control.node_messages import planned_moments
from orchestrator.control.run_phase import Phase
from orchestrator.control.run_state import NetworkRunState
from orchestrator.experiment.faults import FaultError, kind_of, words
from orchestrator.experiment.faults.happened import Told, node_names
from orchestrator.experiment.faults.manual import fault_by_hand
from pame.fault_effects import DegradeEffect, FaultEvent, Plan, StoppingEffect, for_nodes, is_by_docker
from pame.fault_plan_text import plan_lines

SOON_S = 3.0
"""What begins later is not waited for."""
_WAIT_S = 10.0
_SETTLE_S = 1.0
"""A node tells before it asks its supervisor to stop it: so long a refusal may take."""
_LOOK_S = 0.05


def plan_fault(run: NetworkRunState, text: str) -> tuple[FaultEvent, ...]:
    """A fault as an experiment has it, compiled for a run that goes on; without `at` it begins at once."""
    return fault_by_hand(text, run.experiment, run.setting, run.seconds(), len(run.plan))


def require_realisable(run: NetworkRunState, plan: Plan) -> None:
    """FaultError if nobody here can do it."""
    require_docker(plan, in_containers=True)
    require_loss(plan, run.lossless)
    require_orders(plan, [run.indices.member(node) for node in range(len(run.indices))], by_hand=True)


def inject(run: NetworkRunState, plan: Plan) -> None:
    """Every node learns of its part, and they stand in the plan. FaultError if nobody can do it."""
    require_realisable(run, plan)
    run.plan = (*run.plan, *plan)
    run.rounds.add(plan)
    run.facts.planned = planned_moments(run.plan)
    run.ends_with_the_median = True
    run.collection.has_faults()
    run.folder.write_plan(run.plan)
    run.common.plan = "\n".join(plan_lines(for_nodes(run.plan)))  # for those who come back
    text = "\n".join(plan_lines(for_nodes(plan)))
    for member in run.indices.living():
        member.tell(pb.ToNode(faults=pb.Faults(run=run.number, plan=text)))


def running(run: NetworkRunState | None) -> NetworkRunState:
    """FaultError if its nodes do not iterate."""
    if run is None or run.phase is not Phase.RUNNING:
        raise FaultError("no run is under way: a fault by hand needs one")
    return run


def require_loss(plan: Plan, lossless: Mapping[int, str]) -> None:
    """FaultError if packets shall be lost at a node where they cannot; `lossless`: why not, by node, empty if they
    can."""
    for event in plan:
        if not isinstance(event.effect, DegradeEffect) or event.effect.loss == 0:
            continue
        for sender, receiver in event.effect.links:
            if why := lossless.get(sender):
                raise FaultError(
                    f"{kind_of(event)}: packets from node {sender} to node {receiver} cannot be lost here ({why}); use "
                    "message-loss for whole messages"
                )


async def answer(run: NetworkRunState, plan: Plan) -> experiments_pb2.Planned:
    """When all who act in what begins soon have told, or the time for it is over, or the run is; to be asked for at
    once, before anybody can have told."""
    before = len(run.told)
    due = [event for event in plan if _is_soon(event, run)]
    if not due:
        return experiments_pb2.Planned()
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


def injection(due: Sequence[FaultEvent], told: Iterable[Told]) -> experiments_pb2.Planned:
    """What has been said of these events so far, and the nodes that said nothing; a node's last word counts."""
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
    return experiments_pb2.Planned(begun=begun, failures=failures, silent=sorted(silent))


def _is_soon(event: FaultEvent, run: NetworkRunState) -> bool:
    if event.window.unit == "seconds":
        return event.window.begin <= run.seconds() + SOON_S
    return any(run.collection.iterations[node] >= event.window.begin for node in event.acting)


def _is_order(event: FaultEvent) -> bool:
    return isinstance(event.effect, StoppingEffect) and not is_by_docker(event)
