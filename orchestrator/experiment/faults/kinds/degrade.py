"""Links that get worse but still work."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from orchestrator.experiment.faults.interface import World
from orchestrator.experiment.faults.resolve import choose_links
from orchestrator.experiment.faults.selectors import LinkSelector
from orchestrator.experiment.faults.triggers import RepeatedSecondsFault
from orchestrator.experiment.units import Duration, PositiveShare, Share
from pame.fault_effects import DegradeEffect, Effect


@dataclass(frozen=True, kw_only=True)
class Degrade(RepeatedSecondsFault):
    """Links get slower, less steady, lossy or narrower.

    links: Which links; random ones get worse both ways.
    delay: So much is added to the delay.
    delay_factor: The delay is multiplied by this, before something is added.
    jitter: So much is added to the jitter.
    loss: The share of packets that are lost in addition; TCP repairs it, it shows as delay.
    rate: The share of the rate that is left.
    """

    kind: Literal["degrade"] = "degrade"
    links: LinkSelector
    delay: Duration = 0.0
    delay_factor: Annotated[float, Ge(1)] = 1.0
    jitter: Duration = 0.0
    loss: Share = 0.0
    rate: PositiveShare = 1.0

    def problems(self) -> dict[str, str]:
        """Times, and a fault that changes nothing."""
        found = super().problems()
        if (self.delay, self.delay_factor, self.jitter, self.loss, self.rate) == (0.0, 1.0, 0.0, 0.0, 1.0):
            found["kind"] = "changes nothing; give delay, delay_factor, jitter, loss or rate"
        return found

    def effect(self, world: World, turn: int) -> Effect:
        links = choose_links(self.links, world, turn)
        return DegradeEffect(links, self.delay_factor, self.delay, self.jitter, self.loss, self.rate)
