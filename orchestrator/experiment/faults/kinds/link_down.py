"""Links that carry nothing for a while."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.resolve import choose_links
from orchestrator.experiment.faults.selectors import LinkSelector
from orchestrator.experiment.faults.triggers import RepeatedFault
from pame.fault_effects import CutEffect


@dataclass(frozen=True, kw_only=True)
class LinkDown(RepeatedFault):
    """Links carry nothing.

    links: Which links; random ones are cut both ways.
    keep_connected: Whether what is left must still join all nodes.
    """

    kind: Literal["link-down"] = "link-down"
    links: LinkSelector
    keep_connected: bool = False

    def problems(self) -> dict[str, str]:
        return self.times().problems()

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(CutEffect(choose_links(self.links, world, turn, self.keep_connected)), window)
