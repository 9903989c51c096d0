"""Links that lose packets: TCP repairs it, so that it shows as delay; for whole messages see message_loss.py."""

from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import World
from orchestrator.experiment.faults.resolve import choose_links
from orchestrator.experiment.faults.selectors import LinkSelector
from orchestrator.experiment.faults.triggers import RepeatedSecondsFault
from orchestrator.experiment.section import PositiveShare
from pame.fault_effects import DegradeEffect, Effect


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
