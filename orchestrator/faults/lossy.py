"""Links that lose packets: TCP repairs it, so that it shows as delay; for whole messages see message_loss.py."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.faults.choose import choose_links
from orchestrator.faults.degrade import PositiveShare
from orchestrator.faults.seam import Happening, World
from orchestrator.faults.selectors import LinkSelector
from orchestrator.faults.triggers import RepeatedSecondsSpell
from pame.faults import Degrade


@dataclass(frozen=True, kw_only=True)
class Lossy(RepeatedSecondsSpell):
    """Links lose packets.

    links: Which links; random ones both ways.
    loss: The share of packets that are lost.
    """

    kind: Literal["lossy"] = "lossy"
    links: LinkSelector = "all"
    loss: PositiveShare

    def problems(self) -> dict[str, str]:
        """Only times can contradict each other."""
        return self.times().problems()

    def events(self, world: World) -> Iterator[Happening]:
        """One effect per window."""
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(Degrade(choose_links(self.links, world, turn), loss=self.loss), window)
