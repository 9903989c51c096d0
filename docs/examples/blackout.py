"""A fault of your own: some nodes lose all their links at once, for a while.

    pame --plugin docs/examples/blackout.py run \\
        --set 'faults=[{kind: blackout, nodes: [0], at: {iteration: 20}, for: {iterations: 30}}]'
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import RepeatedFault
from pame.fault_effects import CutEffect


@dataclass(frozen=True, kw_only=True)
class Blackout(RepeatedFault):
    """All links of some nodes carry nothing; when, and how often, is `at`, `for`, `until` and `every`.

    nodes: Which nodes.
    """

    kind: Literal["blackout"] = "blackout"
    nodes: NodeSelector

    def events(self, world: World) -> Iterator[Happening]:
        """One cut per window: both ways of every edge of the nodes."""
        for turn, window in enumerate(self.times().windows(world.horizon)):
            dark = set(choose_nodes(self.nodes, world, turn))
            edges = [(int(i), int(j)) for i, j in world.topology.edges if dark & {int(i), int(j)}]
            links = sorted([*edges, *((j, i) for i, j in edges)])
            yield Happening(CutEffect(tuple(links)), window, f"blackout of {sorted(dark)}")


FAULTS = [Blackout]
