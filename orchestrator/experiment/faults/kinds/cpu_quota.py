"""Containers that get only a share of a core, through the Docker API."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import PlainSerializer

from orchestrator.experiment.faults.interface import Happening, World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import RepeatedSecondsFault
from orchestrator.experiment.units import Expected, show_share
from pame import fault_effects

_SMALLEST = 0.01
"""Docker grants no less than 1 ms of each 100 ms."""
CpuShare = Annotated[
    float,
    Ge(_SMALLEST),
    Le(1),
    Expected("a share of a core, 1% to 100%"),
    PlainSerializer(show_share, when_used="json"),
]


@dataclass(frozen=True, kw_only=True)
class CpuQuota(RepeatedSecondsFault):
    """The containers of nodes get only a share of a core.

    nodes: Which nodes.
    cpu: The share of one core that a node may use; a trainer never uses more than one.
    """

    kind: Literal["cpu-quota"] = "cpu-quota"
    nodes: NodeSelector
    cpu: CpuShare

    def problems(self) -> dict[str, str]:
        return self.times().problems()

    def events(self, world: World) -> Iterator[Happening]:
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(fault_effects.CpuQuotaEffect(choose_nodes(self.nodes, world, turn), 1.0 / self.cpu), window)
