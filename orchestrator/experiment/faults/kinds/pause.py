"""Nodes that stand still for a while and then go on as if nothing had been."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from orchestrator.experiment.faults.interface import World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import RepeatedFault, StoppedSeconds, Times
from pame.fault_effects import Effect, PauseEffect


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

    def effect(self, world: World, turn: int) -> Effect:
        return PauseEffect(choose_nodes(self.nodes, world, turn, self.keep_connected))
