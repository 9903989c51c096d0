"""Whole messages that are not sent: a public draw of (seed, link, iteration), hence the same on every backend."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.kinds.degrade import PositiveShare
from orchestrator.experiment.faults.resolve import choose_links
from orchestrator.experiment.faults.selectors import LinkSelector
from orchestrator.experiment.faults.triggers import RepeatedFault
from pame.fault_effects import DropEffect


@dataclass(frozen=True, kw_only=True)
class MessageLoss(RepeatedFault):
    """A share of the messages is not sent.

    links: Which links; random ones both ways.
    loss: The share of messages that are lost.
    """

    kind: Literal["message-loss"] = "message-loss"
    links: LinkSelector = "all"
    loss: PositiveShare

    def problems(self) -> dict[str, str]:
        return self.times().problems()

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(DropEffect(choose_links(self.links, world, turn), self.loss), window)
