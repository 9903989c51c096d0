"""Nodes that are killed, and come back after a while or never."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import Moment, PositiveSeconds, Seconds, Span, StoppedSeconds, Times
from pame import fault_effects

_AT = Field(description="When it begins; the beginning of the run if left out.")
_UNTIL = Field(description="With `every`: when it stops repeating; the end of the run if left out.")
_EVERY = Field(description="It happens again after so long, each time; random choices are made anew.")


@dataclass(frozen=True, kw_only=True)
class AbsenceFault:
    """A fault after which nodes come back."""

    at: Annotated[Moment | None, _AT] = None
    every: Annotated[Span | None, _EVERY] = None
    until: Annotated[Moment | None, _UNTIL] = None
    back_after: StoppedSeconds | None = None

    def times(self) -> Times:
        given = {"at": self.at, "back_after": self.back_after, "until": self.until, "every": self.every}
        return Times(given, length="back_after", stops=True)

    def problems(self) -> dict[str, str]:
        """Times, and an end of what does not repeat."""
        found = self.times().problems()
        if self.until is not None and self.every is None:
            found["until"] = "is when repeating ends, but nothing repeats; give every too, or only back_after"
        return found


@dataclass(frozen=True, kw_only=True)
class ContainerAbsenceFault(AbsenceFault):
    """The same by seconds only: Docker knows no iterations."""

    at: Annotated[Seconds | None, _AT] = None
    every: Annotated[PositiveSeconds | None, _EVERY] = None
    until: Annotated[Seconds | None, _UNTIL] = None


@dataclass(frozen=True, kw_only=True)
class Kill(AbsenceFault):
    """Nodes are killed, without a word to anybody.

    nodes: Which nodes.
    back_after: How long until they come back; never if left out.
    keep_connected: Whether the other nodes must still reach each other.
    """

    kind: Literal["kill"] = "kill"
    nodes: NodeSelector
    keep_connected: bool = False

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(
                fault_effects.KillEffect(choose_nodes(self.nodes, world, turn, self.keep_connected)), window
            )
