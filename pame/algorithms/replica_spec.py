"""What every algorithm with replicas may be told."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge

from pame.algorithms.base import MixingSpec
from pame.algorithms.selection import Who
from pame.compressors import CompressorSpec, TopK


@dataclass(frozen=True)
class ReplicaSpec(MixingSpec):
    """Those of mixing, and what every algorithm with replicas may be told.

    compressor: how a node's updates are compressed
    on_loss: acknowledged: the next message on that edge makes up for it; resync: whole vectors come every so often;
        naive: what is lost is lost
    resync_every: with resync, every so many rounds
    """

    compressor: CompressorSpec = field(default_factory=TopK)
    on_loss: Literal["acknowledged", "resync", "naive"] = "acknowledged"
    resync_every: Annotated[int, Ge(1)] = 10

    @property
    def who(self) -> Who:
        """To all neighbours, because all keep a replica."""
        return Who.BROADCAST_SHARED if self.draw == "shared" else Who.BROADCAST
