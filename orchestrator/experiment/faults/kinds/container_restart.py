"""Whole containers that are stopped in good order through the Docker API, and started again soon."""

from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.kinds.kill import ContainerAbsenceFault
from orchestrator.experiment.faults.triggers import StoppedSeconds
from pame.fault_effects import ContainerRestartEffect


@dataclass(frozen=True, kw_only=True)
class ContainerRestart(ContainerAbsenceFault):
    """The containers of nodes are stopped and started again through the Docker API.

    back_after: How long they are away.
    """

    kind: Literal["container-restart"] = "container-restart"
    back_after: StoppedSeconds = 1.0
    takes_away = ContainerRestartEffect
