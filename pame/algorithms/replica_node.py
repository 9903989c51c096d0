"""The routine of every node with replicas; an algorithm says what happens before sending and after absorbing."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, TypeVar

import numpy as np

from pame.algorithms.base import SteppingNode
from pame.algorithms.flows import EdgeFlows
from pame.algorithms.interface import Context, Delivery, Form, Message, Received
from pame.algorithms.replicas import Replicas, ReplicaSpec

Spec = TypeVar("Spec", bound=ReplicaSpec)


class ReplicaNode(SteppingNode[Spec]):
    delivery = Delivery.IN_ORDER
    names: ClassVar[tuple[str, ...]]
    """Of the vectors that have a surrogate."""
    flowing: ClassVar[str | None] = None
    """The one of these whose differences over edges add up to something that must not be missed, if there is one."""

    def __init__(self, spec: Spec, context: Context) -> None:
        super().__init__(spec, context)
        self.replicas = Replicas(spec, context, self.names, self.flowing)
        self._flows = EdgeFlows(np.zeros_like(context.start))

    @property
    def vectors(self) -> Mapping[str, Form]:
        return self.replicas.forms.vectors

    @property
    def bundles(self) -> Collection[frozenset[str]]:
        return self.replicas.forms.bundles

    @property
    def desynchronised(self) -> int:
        return self.replicas.desynchronised

    def message(self, k: int) -> Message:
        return self.replicas.outgoing

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """Apply what came; over how many edges the node can mix."""
        self.replicas.absorb(k, received)
        return float(len(self.replicas.edges(k)))

    def missed(self, neighbour: int, k: int) -> None:
        self.replicas.missed(neighbour)

    def greet(self, neighbour: int) -> None:
        """It needs whole surrogates; what flowed over the edge is gone at its end, so it must go at this one."""
        self.replicas.greet(neighbour)
        self._flows.forget(neighbour)

    def _is_round(self, k: int) -> bool:
        return self._context.selection.is_round(self._context.node, k)
