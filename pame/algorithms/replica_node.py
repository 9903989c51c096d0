"""The routine of every node with replicas; an algorithm says what happens before sending and after absorbing."""

from collections.abc import Collection, Mapping, Sequence

from pame.algorithms.base import NodeBase
from pame.algorithms.interface import Context, Delivery, Form, Message, Received
from pame.algorithms.replica_spec import ReplicaSpec
from pame.algorithms.replicas import Replicas


class ReplicaNode(NodeBase):
    """One node of an algorithm with replicas."""

    delivery = Delivery.IN_ORDER

    def __init__(self, spec: ReplicaSpec, context: Context, names: Sequence[str], flowing: str | None = None) -> None:
        super().__init__(context)
        self._replicas = Replicas(spec, context, names, flowing)

    @property
    def vectors(self) -> Mapping[str, Form]:
        return self._replicas.forms.vectors

    @property
    def bundles(self) -> Collection[frozenset[str]]:
        return self._replicas.forms.bundles

    @property
    def desynchronised(self) -> int:
        return self._replicas.desynchronised

    @property
    def replicas(self) -> Replicas:
        return self._replicas

    def message(self, k: int) -> Message:
        """Updates or whole surrogates."""
        return self._replicas.outgoing

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """Apply what came; over how many edges the node can mix."""
        self._replicas.absorb(k, received)
        return float(len(self._replicas.edges(k)))

    def missed(self, neighbour: int, k: int) -> None:
        """Its replica of this node is wrong."""
        self._replicas.missed(neighbour)

    def greet(self, neighbour: int) -> None:
        """It needs whole surrogates."""
        self._replicas.greet(neighbour)

    def _is_round(self, k: int) -> bool:
        return self._context.selection.is_round(self._context.node, k)
