"""CHOCO-SGD (Koloskova, Stich and Jaggi 2019): a gradient step, then a pull towards compressed surrogates.

    x'     = x_i - eta/gamma^k g(x_i)
    q_i    = C(x' - xhat_i),   xhat_j += q_j  for every j
    x_i    = x' + gam sum_j Q_ij (xhat_j - xhat_i)

At an iteration that is no round x_i = x'. `replica_node` says what a missing message means. The compressor must
contract; the less it keeps, the smaller gam must be. Gossip alone with n = 100, on a ring of 16, a complete bipartite
graph of 8 and an uneven graph of 6 nodes: with top-k of a tenth, gam up to 0.2 converged on all three, 0.4 on the ring
only; with random-k of a tenth, 0.1 converged and 0.2 diverged on all three.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt, Le

from pame.algorithms.interface import Context
from pame.algorithms.replica_node import ReplicaNode, ReplicaSpec


@dataclass(frozen=True)
class ChocoSpec(ReplicaSpec):
    """CHOCO-SGD: gradient steps, and gossip on compressed surrogates.

    gam: the consensus step, how much of the way to its neighbours a node goes
    """

    kind: Literal["choco"] = "choco"
    gam: Annotated[float, Gt(0), Le(1)] = 0.1

    def node(self, context: Context) -> "Choco":
        return Choco(self, context)


class Choco(ReplicaNode[ChocoSpec]):
    names = ("q",)

    def prepare(self, k: int) -> None:
        self._ahead = self._descend(k, self._model, self._gradient(k))
        if self._is_round(k):
            self.tell(k, {"q": self._ahead})

    def step(self, k: int) -> None:
        pull = self.pull("q", self.edges(k))
        self._model = self._finite(k, self._ahead + self._spec.gam * pull)
