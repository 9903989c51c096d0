"""Whole containers that are stopped in good order through the Docker API, and started again soon."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.kinds.kill import ContainerAbsenceFault
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import StoppedSeconds
from pame import fault_effects


@dataclass(frozen=True, kw_only=True)
class ContainerRestart(ContainerAbsenceFault):
    """The containers of nodes are stopped and started again through the Docker API.

    nodes: Which nodes.
    back_after: How long they are away.
    keep_connected: Whether the other nodes must still reach each other.
    """

    kind: Literal["container-restart"] = "container-restart"
    nodes: NodeSelector
    back_after: StoppedSeconds = 1.0
    keep_connected: bool = False

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(
                fault_effects.ContainerRestartEffect(choose_nodes(self.nodes, world, turn, self.keep_connected)), window
            )
