"""Nodes that leave in good order, and come back soon."""

from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.faults.kinds.kill import AbsenceFault
from orchestrator.experiment.faults.triggers import StoppedSeconds
from pame.fault_effects import RestartEffect


@dataclass(frozen=True, kw_only=True)
class NodeRestart(AbsenceFault):
    """Nodes leave and come back.

    back_after: How long they are away.
    """

    kind: Literal["restart"] = "restart"
    back_after: StoppedSeconds = 1.0
    takes_away = RestartEffect
