"""Links that carry nothing for a while."""

from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import World
from orchestrator.experiment.faults.resolve import choose_links
from orchestrator.experiment.faults.selectors import LinkSelector
from orchestrator.experiment.faults.triggers import RepeatedFault
from pame.fault_effects import CutEffect, Effect


@dataclass(frozen=True, kw_only=True)
class LinkDown(RepeatedFault):
    """Links carry nothing.

    links: Which links; random ones are cut both ways.
    keep_connected: Whether what is left must still join all nodes.
    """

    kind: Literal["link-down"] = "link-down"
    links: LinkSelector
    keep_connected: bool = False

    def effect(self, world: World, turn: int) -> Effect:
        return CutEffect(choose_links(self.links, world, turn, self.keep_connected))
