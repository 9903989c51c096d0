"""Containers that get only a share of a core, through the Docker API."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le

from orchestrator.experiment.faults.interface import World
from orchestrator.experiment.faults.resolve import choose_nodes
from orchestrator.experiment.faults.selectors import NodeSelector
from orchestrator.experiment.faults.triggers import RepeatedSecondsFault
from orchestrator.experiment.units import AS_SHARE, Expected
from pame.fault_effects import CpuQuotaEffect, Effect

_SMALLEST = 0.01
"""Docker grants no less than 1 ms of each 100 ms."""


@dataclass(frozen=True, kw_only=True)
class CpuQuota(RepeatedSecondsFault):
    """The containers of nodes get only a share of a core.

    nodes: Which nodes.
    cpu: The share of one core that a node may use; a trainer never uses more than one.
    """

    kind: Literal["cpu-quota"] = "cpu-quota"
    nodes: NodeSelector
    cpu: Annotated[float, Ge(_SMALLEST), Le(1), Expected("a share of a core, 1% to 100%"), AS_SHARE]

    def effect(self, world: World, turn: int) -> Effect:
        return CpuQuotaEffect(choose_nodes(self.nodes, world, turn), 1.0 / self.cpu)
