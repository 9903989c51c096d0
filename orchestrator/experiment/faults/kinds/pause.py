"""Nodes that stand still for a while and then go on as if nothing had been."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import RepeatedFault, StoppedSeconds, Times
from pame import fault_effects


@dataclass(frozen=True, kw_only=True)
class Pause(RepeatedFault):
    """Nodes stand still.

    nodes: Which nodes.
    keep_connected: Whether the other nodes must still reach each other.
    """

    kind: Literal["pause"] = "pause"
    nodes: NodeSelector
    lasts: Annotated[StoppedSeconds | None, Field(alias="for", description="How long it lasts.")] = None
    keep_connected: bool = False

    def times(self) -> Times:
        return replace(super().times(), stops=True)

    def problems(self) -> dict[str, str]:
        return self.times().problems()

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(
                fault_effects.PauseEffect(choose_nodes(self.nodes, world, turn, self.keep_connected)), window
            )
