"""Whole messages that are not sent: a public draw of (seed, link, iteration), hence the same on every backend."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.faults.choose import choose_links
from orchestrator.faults.degrade import PositiveShare
from orchestrator.faults.seam import Happening, World
from orchestrator.faults.selectors import LinkSelector
from orchestrator.faults.triggers import RepeatedSpell
from pame.faults import Drop


@dataclass(frozen=True, kw_only=True)
class MessageLoss(RepeatedSpell):
    """A share of the messages is not sent.

    links: Which links; random ones both ways.
    loss: The share of messages that are lost.
    """

    kind: Literal["message-loss"] = "message-loss"
    links: LinkSelector = "all"
    loss: PositiveShare

    def problems(self) -> dict[str, str]:
        """Only times can contradict each other."""
        return self.times().problems()

    def events(self, world: World) -> Iterator[Happening]:
        """One effect per window."""
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(Drop(choose_links(self.links, world, turn), self.loss), window)
