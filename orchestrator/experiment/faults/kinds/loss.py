"""Links that lose something: packets, which TCP repairs, so that it shows as delay, or whole messages.

A whole message is not sent: a public draw of (seed, link, iteration), hence the same on every backend.
"""

from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import World
from orchestrator.experiment.faults.resolve import choose_links
from orchestrator.experiment.faults.selectors import LinkSelector
from orchestrator.experiment.faults.triggers import RepeatedFault, RepeatedSecondsFault
from orchestrator.experiment.units import PositiveShare
from pame.fault_effects import DegradeEffect, DropEffect, Effect


@dataclass(frozen=True, kw_only=True)
class Lossy(RepeatedSecondsFault):
    """Links lose packets.

    links: Which links; random ones both ways.
    loss: The share of packets that are lost.
    """

    kind: Literal["lossy"] = "lossy"
    links: LinkSelector = "all"
    loss: PositiveShare

    def effect(self, world: World, turn: int) -> Effect:
        return DegradeEffect(choose_links(self.links, world, turn), loss=self.loss)


@dataclass(frozen=True, kw_only=True)
class MessageLoss(RepeatedFault):
    """A share of the messages is not sent.

    links: Which links; random ones both ways.
    loss: The share of messages that are lost.
    """

    kind: Literal["message-loss"] = "message-loss"
    links: LinkSelector = "all"
    loss: PositiveShare

    def effect(self, world: World, turn: int) -> Effect:
        return DropEffect(choose_links(self.links, world, turn), self.loss)
