"""The registry of faults: a new one is a file here, and its class in FAULTS.

May import: `pame`, and `orchestrator.experiment` (the machinery of faults, values with units).
"""

from orchestrator.experiment.faults.kinds.churn import Churn
from orchestrator.experiment.faults.kinds.cpu_quota import CpuQuota
from orchestrator.experiment.faults.kinds.degrade import Degrade
from orchestrator.experiment.faults.kinds.flap import Flap
from orchestrator.experiment.faults.kinds.kill import ContainerKill, ContainerRestart, Kill, NodeRestart
from orchestrator.experiment.faults.kinds.link_down import LinkDown
from orchestrator.experiment.faults.kinds.loss import Lossy, MessageLoss
from orchestrator.experiment.faults.kinds.partition import PartitionFault
from orchestrator.experiment.faults.kinds.pause import Pause
from orchestrator.experiment.faults.kinds.straggler import Straggler

FAULTS: dict[str, type] = {
    spec.kind: spec
    for spec in (
        LinkDown,
        PartitionFault,
        Flap,
        Degrade,
        Straggler,
        Pause,
        Kill,
        NodeRestart,
        Churn,
        Lossy,
        MessageLoss,
        ContainerKill,
        ContainerRestart,
        CpuQuota,
    )
}
