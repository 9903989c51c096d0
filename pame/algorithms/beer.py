"""BEER (Zhao, Li, Li, Richtárik and Chi 2022): gradient tracking on compressed surrogates, h of the model, g of the
tracker.

    h_j += C(x_j - h_j),   g_j += C(v_j - g_j)  for every j
    x_i+ = x_i + gam sum_j Q_ij (h_j - h_i) - eta/gamma^k v_i
    v_i+ = v_i + gam sum_j Q_ij (g_j - g_i) + grad f_i(x_i+) - grad f_i(x_i),        v_i^0 = grad f_i(x_i^0)

The paper takes the step first and sends afterwards, with h^0 = g^0 = 0; here x^0 and v^0 are sent before the first
step, which is the paper's with h^0 = C(x^0), g^0 = C(v^0). The forces on v cancel over all nodes, so that mean(v) is
always the mean gradient, on which the exactness rests: `on_loss` keeps or breaks it. At an iteration that is no round
nothing pulls. With mini-batches both gradients of a difference are those of their own iterations. What flowed into v is
kept by edge, v_i = grad f_i(x_i) + what flowed, so that the mean stays right when a neighbour comes back empty; over
an edge whose message is late it flows late.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt, Le

from pame.algorithms.interface import Context
from pame.algorithms.replica_node import ReplicaNode, ReplicaSpec
from pame.exchange import Vector


@dataclass(frozen=True)
class BeerSpec(ReplicaSpec):
    """BEER: gradient tracking on compressed surrogates.

    gam: the consensus step, how much of the way to its neighbours a node goes
    """

    kind: Literal["beer"] = "beer"
    gam: Annotated[float, Gt(0), Le(1)] = 0.1

    def node(self, context: Context) -> "Beer":
        return Beer(self, context)


class Beer(ReplicaNode[BeerSpec]):
    names = ("h", "g")
    flowing = "g"

    def __init__(self, spec: BeerSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._slope = self._gradient(context.first)

    @property
    def tracker(self) -> Vector:
        """v_i^k."""
        return self._slope + self._flows.total

    def prepare(self, k: int) -> None:
        if self._is_round(k):
            self.tell(k, {"h": self._model, "g": self.tracker})

    def step(self, k: int) -> None:
        edges = self.edges(k)
        moved = self._model + self._spec.gam * self.pull("h", edges) - self._size(k) * self.tracker
        self._model = self._finite(k, moved)
        self._slope = self._gradient(k + 1)
        weights = {j: self._spec.gam * weight for j, weight in edges.items()}
        self._flows.pull(weights, self.own("g"), self.others("g"))
        for late in self.late():
            self._flows.add(late.neighbour, self._spec.gam * late.weight * late.difference)
