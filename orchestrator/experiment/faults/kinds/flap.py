"""Links that come and go: down for a share of each period."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt, Lt

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.resolve import choose_links
from orchestrator.experiment.faults.selectors import LinkSelector
from orchestrator.experiment.faults.triggers import ForIterations, Span, TimedFault, Times, number_of
from orchestrator.experiment.units import AS_SHARE, Expected
from pame.fault_effects import CutEffect


@dataclass(frozen=True, kw_only=True)
class Flap(TimedFault):
    """Links go down and come back, again and again; the same links all the time, all at once.

    links: Which links; random ones flap both ways.
    period: From one time they go down to the next.
    duty: The share of the period during which they are down.
    keep_connected: Whether what is left must still join all nodes.
    """

    kind: Literal["flap"] = "flap"
    links: LinkSelector
    period: Span
    duty: Annotated[float, Gt(0), Lt(1), Expected("a share between 0% and 100%"), AS_SHARE] = 0.5
    keep_connected: bool = False

    def times(self) -> Times:
        """With the period, which must be in the same unit."""
        return Times({**super().times().given, "period": self.period})

    def problems(self) -> dict[str, str]:
        """Times, and a period that is too short to be down and up."""
        found = super().problems()
        if isinstance(self.period, ForIterations) and self.period.iterations < 2:
            found.setdefault("period", "1 iteration cannot be both down and up; give at least {iterations: 2}")
        return found

    def events(self, world: World) -> Iterator[Happening]:
        times, period = self.times(), number_of(self.period)
        cut = CutEffect(choose_links(self.links, world, 0, self.keep_connected))
        down = self.duty * period
        if times.unit == "iterations":
            down = float(min(max(1, round(down)), int(period) - 1))
        for window in times.repeated(period, down, world.horizon):
            yield Happening(cut, window)
