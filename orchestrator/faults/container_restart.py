"""Whole containers that are stopped in good order through the Docker API, and started again soon."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.faults.choose import choose_nodes
from orchestrator.faults.kill import ContainerAbsence
from orchestrator.faults.seam import Happening, World
from orchestrator.faults.selectors import NodeSelector
from orchestrator.faults.triggers import StoppedSeconds
from pame import faults


@dataclass(frozen=True, kw_only=True)
class ContainerRestart(ContainerAbsence):
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
        """One restart per window."""
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(faults.ContainerRestart(choose_nodes(self.nodes, world, turn, self.keep_connected)), window)
