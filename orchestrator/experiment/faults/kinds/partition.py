"""The network falls into parts that cannot talk to each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults import partition_shapes
from orchestrator.experiment.faults.interface import Happening, Use, World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector, Random
from orchestrator.experiment.faults.triggers import RepeatedFault
from pame.fault_effects import CutEffect
from pame.randomness import permutation

_SHOWN = 32


@dataclass(frozen=True, kw_only=True)
class PartitionFault(RepeatedFault):
    """All links between the parts of the network carry nothing.

    shape: halves, isolate (nodes alone), bridge (halves that one node still talks to), min-cut, or regions.
    nodes: For isolate: which nodes are alone; a random one if left out.
    """

    kind: Literal["partition"] = "partition"
    shape: Literal["halves", "isolate", "bridge", "min-cut", "regions"] = "halves"
    nodes: NodeSelector | None = None

    def problems(self) -> dict[str, str]:
        """Times, and nodes that a shape does not ask for."""
        found = super().problems()
        if self.nodes is not None and self.shape != "isolate":
            found["nodes"] = f"the shape {self.shape} finds its own nodes; remove it, or give shape: isolate"
        return found

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            middle, parts = self._parts(world, turn)
            words = f"partition {self.shape}: {' | '.join(map(_listed, parts))}"
            if middle is not None:
                words += f", joined by {middle}"
            yield Happening(CutEffect(partition_shapes.links_between(world.topology, parts)), window, words)

    def _parts(self, world: World, turn: int) -> tuple[int | None, list[partition_shapes.Part]]:
        graph = world.topology
        order = permutation(world.key(Use.SHAPE, turn), graph.nodes).tolist()
        match self.shape:
            case "halves":
                return None, partition_shapes.halves(graph, order)
            case "isolate":
                selector = Random(1, None) if self.nodes is None else self.nodes
                return None, partition_shapes.isolate(graph, choose_nodes(selector, world, turn))
            case "bridge":
                return partition_shapes.bridge(graph, order)
            case "min-cut":
                return None, partition_shapes.min_cut(graph, order)
            case "regions":
                return None, partition_shapes.regions(graph, world.regions)


def _listed(part: Sequence[int]) -> str:
    more = len(part) - _SHOWN
    return " ".join(map(str, part[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
