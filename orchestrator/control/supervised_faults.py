"""Faults that stop node processes need a supervisor above each of these: without one they are refused beforehand."""

from collections.abc import Sequence

from orchestrator.control.members import Member
from orchestrator.experiment.faults import FaultError, kind_of
from pame.fault_effects import KillEffect, PauseEffect, Plan, RestartEffect, StoppingEffect

_ORDERS: dict[type, str] = {PauseEffect: "order:pause", KillEffect: "order:kill", RestartEffect: "order:restart"}


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
