"""Faults by hand that the nodes of a run cannot carry out are refused before anybody hears of them."""

from collections.abc import Mapping

from orchestrator.experiment.faults import FaultError, kind_of
from pame.fault_effects import DegradeEffect, Plan


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
