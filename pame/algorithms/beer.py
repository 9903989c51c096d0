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

import numpy as np
from annotated_types import Gt, Le

from pame.algorithms.flows import EdgeFlows
from pame.algorithms.gradient_step import check_finite
from pame.algorithms.interface import Context
from pame.algorithms.replica_node import ReplicaNode
from pame.algorithms.replica_spec import ReplicaSpec
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


class Beer(ReplicaNode):
    """One node of BEER."""

    def __init__(self, spec: BeerSpec, context: Context) -> None:
        super().__init__(spec, context, ["h", "g"], flowing="g")
        self._spec = spec
        self._gradient = context.objective.gradient(context.start, context.first)
        self._flows = EdgeFlows(np.zeros_like(context.start))

    @property
    def tracker(self) -> Vector:
        """v_i^k."""
        return self._gradient + self._flows.total

    def prepare(self, k: int) -> None:
        """At a round: what changed of model and tracker."""
        if self._is_round(k):
            self._replicas.tell(k, {"h": self._model, "g": self.tracker})

    def step(self, k: int) -> None:
        """Along the tracker and towards the neighbours, model first."""
        size, edges = self._spec.step.size(k, 1), self._replicas.edges(k)
        moved = self._model + self._spec.gam * self._replicas.pull("h", edges) - size * self.tracker
        self._model = check_finite(moved, self._context.node, k, size)
        self._gradient = self._context.objective.gradient(self._model, k + 1)
        weights = {j: self._spec.gam * weight for j, weight in edges.items()}
        self._flows.pull(weights, self._replicas.own("g"), self._replicas.others("g"))
        for late in self._replicas.late():
            self._flows.add(late.neighbour, self._spec.gam * late.weight * late.difference)

    def greet(self, neighbour: int) -> None:
        """What flowed over the edge is forgotten at its other end, so it must be here, too."""
        super().greet(neighbour)
        self._flows.forget(neighbour)
