"""Whole containers that are killed through the Docker API, and started again after a while or when the run is over."""

from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.kinds.kill import ContainerAbsenceFault
from pame.fault_effects import ContainerKillEffect


@dataclass(frozen=True, kw_only=True)
class ContainerKill(ContainerAbsenceFault):
    """The containers of nodes are killed through the Docker API.

    back_after: How long until they are started again; when the run is over if left out.
    """

    kind: Literal["container-kill"] = "container-kill"
    takes_away = ContainerKillEffect
