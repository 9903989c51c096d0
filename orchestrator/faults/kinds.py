"""The registry of faults: a new one is a file here, and its class in FaultSpec."""

from typing import get_args

from orchestrator.faults.churn import Churn
from orchestrator.faults.container_kill import ContainerKill
from orchestrator.faults.container_restart import ContainerRestart
from orchestrator.faults.cpu_quota import CpuQuota
from orchestrator.faults.degrade import Degrade
from orchestrator.faults.flap import Flap
from orchestrator.faults.kill import Kill
from orchestrator.faults.link_down import LinkDown
from orchestrator.faults.lossy import Lossy
from orchestrator.faults.message_loss import MessageLoss
from orchestrator.faults.partition import Partition
from orchestrator.faults.pause import Pause
from orchestrator.faults.restart import NodeRestart
from orchestrator.faults.straggler import Straggler

FaultSpec = (
    LinkDown
    | Partition
    | Flap
    | Degrade
    | Straggler
    | Pause
    | Kill
    | NodeRestart
    | Churn
    | Lossy
    | MessageLoss
    | ContainerKill
    | ContainerRestart
    | CpuQuota
)  # fmt: skip

FAULTS: dict[str, type] = {spec.kind: spec for spec in get_args(FaultSpec)}
