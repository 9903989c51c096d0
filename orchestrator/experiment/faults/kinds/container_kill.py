"""Whole containers that are killed through the Docker API, and started again after a while or when the run is over."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.kinds.kill import ContainerAbsenceFault
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from pame import fault_effects


@dataclass(frozen=True, kw_only=True)
class ContainerKill(ContainerAbsenceFault):
    """The containers of nodes are killed through the Docker API.

    nodes: Which nodes.
    back_after: How long until they are started again; when the run is over if left out.
    keep_connected: Whether the other nodes must still reach each other.
    """

    kind: Literal["container-kill"] = "container-kill"
    nodes: NodeSelector
    keep_connected: bool = False

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(
                fault_effects.ContainerKillEffect(choose_nodes(self.nodes, world, turn, self.keep_connected)), window
            )
