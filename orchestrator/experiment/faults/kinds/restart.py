"""Nodes that leave in good order, and come back soon."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.kinds.kill import AbsenceFault
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import StoppedSeconds
from pame import fault_effects


@dataclass(frozen=True, kw_only=True)
class NodeRestart(AbsenceFault):
    """Nodes leave and come back.

    nodes: Which nodes.
    back_after: How long they are away.
    keep_connected: Whether the other nodes must still reach each other.
    """

    kind: Literal["restart"] = "restart"
    nodes: NodeSelector
    back_after: StoppedSeconds = 1.0
    keep_connected: bool = False

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(
                fault_effects.RestartEffect(choose_nodes(self.nodes, world, turn, self.keep_connected)), window
            )
