"""What a run needs of its nodes, and whether those that are there can do it."""

from collections.abc import Collection, Sequence, Set
from pathlib import Path

from orchestrator.control.members import Member
from orchestrator.errors import NotEnoughNodes
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults import FaultError, kind_of
from pame.fault_effects import KillEffect, PauseEffect, Plan, RestartEffect, StoppingEffect
from pame.network_specs import ModuleSpec
from pame.problems import ImageClassificationSpec

_ORDERS: dict[type, str] = {PauseEffect: "order:pause", KillEffect: "order:kill", RestartEffect: "order:restart"}


def needs(experiment: Experiment) -> set[str]:
    """What a node must be able to run, as it says itself when it joins."""
    found = {f"algorithm:{experiment.algorithm.kind}", f"problem:{experiment.problem.kind}"}
    model = getattr(experiment.problem, "model", None)
    if isinstance(model, ModuleSpec):
        file, _, name = model.module.rpartition(":")
        found.add(f"module:{Path(file).name}:{name}")
    return found


def require_abilities(there: Collection[Member], needed: Set[str], count: int) -> None:
    """NotEnoughNodes if enough nodes are there, and too few of them can do what is needed."""
    if len(there) < count:
        return
    for ability in sorted(needed):
        cannot = sum(ability not in member.capabilities for member in there)
        if len(there) - cannot < count:
            raise NotEnoughNodes(f"{cannot} of the {len(there)} nodes that are here {_lack(ability)}")


def require_orders(plan: Plan, members: Sequence[Member | None], by_hand: bool = False) -> None:
    """FaultError if a node that shall be stopped has nobody above it who can; `members`: in the order of nodes,
    None where nobody is known."""
    for event in plan:
        order = _ORDERS.get(type(event.effect))
        if order is None or not isinstance(event.effect, StoppingEffect):
            continue
        for node in event.effect.nodes:
            member = members[node] if node < len(members) else None
            if member is not None and order not in member.capabilities:
                where = "" if by_hand else f"faults.{event.number}: "
                raise FaultError(
                    f"{where}{kind_of(event)} needs a supervisor that can {order.removeprefix('order:')} node {node}, "
                    f"and {member.name} has none: start it with `python -m node.supervisor` instead of `python -m node`"
                )


def _lack(ability: str) -> str:
    kind, _, name = ability.partition(":")
    if ability == f"problem:{ImageClassificationSpec.kind}":
        return (
            "have no torch: start nodes that have it (containers: PAME_NODE_TARGET=node-torch docker compose up; "
            "elsewhere: pip install '.[vision]')"
        )
    return f"do not have the {kind} {name}: give its file to every node (PAME_PLUGINS)"
