"""ANQ-NIDS (Michelusi, Scutari and Lee 2022): NIDS whose mixing sees quantized surrogates zhat of what would be sent.

    z_i    = x_i - eta/gamma^k (grad f_i(x_i) + d_i)
    zhat_j += C(z_j - zhat_j)  for every j
    r_i    = gam/2 (zhat_i - sum_j Q_ij zhat_j),   d_i += r_i / (eta/gamma^k),   x_i = z_i - r_i

As published gam = 1. The r_i cancel over all nodes, so that sum(d) = 0 always; at the optimum d_i = -grad f_i and z
stands still. Convergence is linear if the quantizer's error vanishes with z - zhat: their rule allows a coordinate
eta_k + omega |z - zhat|, with omega small and eta_k falling geometrically; where it falls faster than the algorithm
converges, levels take ever more bits (`compressor: {kind: adaptive, eta, shrink, omega}`). At an iteration that is no
round r = 0. As in NIDS here (`nids`), duals are kept by edge, and an edge that is seldom active adds less to them; one
whose message is late adds late.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Gt, Le

from pame.algorithms.flows import dual_share
from pame.algorithms.interface import Context
from pame.algorithms.replica_node import ReplicaNode, ReplicaSpec
from pame.compressors import AdaptiveQuantizer, CompressorSpec
from pame.exchange import Vector


@dataclass(frozen=True)
class AnqNidsSpec(ReplicaSpec):
    """ANQ-NIDS: NIDS on quantized surrogates.

    gam: the consensus step, how much of the way to its neighbours a node goes
    dual: how much more the duals of edges that are seldom active take; 1 is safe, more is faster at first and may drift
    """

    kind: Literal["anq-nids"] = "anq-nids"
    gam: Annotated[float, Gt(0), Le(1)] = 1.0
    dual: Annotated[float, Gt(0)] = 1.0
    compressor: CompressorSpec = field(default_factory=AdaptiveQuantizer)

    def node(self, context: Context) -> "AnqNids":
        return AnqNids(self, context)


class AnqNids(ReplicaNode[AnqNidsSpec]):
    names = ("z",)
    flowing = "z"

    @property
    def dual(self) -> Vector:
        """d_i^k."""
        return -self._flows.total

    def prepare(self, k: int) -> None:
        self._ahead = self._descend(k, self._model, self._gradient(k) + self.dual)
        if self._is_round(k):
            self.tell(k, {"z": self._ahead})

    def step(self, k: int) -> None:
        edges = {j: 0.5 * self._spec.gam * weight for j, weight in self.edges(k).items()}
        self._model = self._finite(k, self._ahead + self.pull("z", edges))
        duals = {j: self._into_dual(j, weight, k) for j, weight in edges.items()}
        self._flows.pull(duals, self.own("z"), self.others("z"))
        for late in self.late():
            weight = self._into_dual(late.neighbour, 0.5 * self._spec.gam * late.weight, late.iteration)
            self._flows.add(late.neighbour, weight * late.difference)

    def _into_dual(self, neighbour: int, weight: float, k: int) -> float:
        """How much of the difference over an edge the dual takes, if the model takes `weight` of it."""
        share = dual_share(self._context.selection, self._context.node, neighbour)
        return self._spec.dual * weight * share / self._size(k)
