"""What the lock-step driver asks of nodes, whether they are objects here or spread over processes."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pame.algorithms import Algorithm, Delivery, Received, Wanted
from pame.message_check import MessageCheck
from pame.resolved_run import ResolvedRun
from pame.simulator.sending import Posted, compose


class NodeTurn(NamedTuple):
    """How a node begins an iteration: what it sends, if anything, and whom it wants to hear."""

    mail: Posted | None
    wanted: Wanted | None


class NodeEnd(NamedTuple):
    """How a node ends an iteration: what it took out of its mailbox, and the coverage if it averaged that."""

    taken: Sequence[Received]
    coverage: float | None


class NodeGroup(Protocol):
    """Nodes in ascending order; all lists have one entry for each of them."""

    def begin(self, k: int) -> Sequence[NodeTurn]:
        """All nodes prepare and send."""

    def end(self, k: int, arrived: Sequence[Sequence[Received]]) -> Sequence[NodeEnd]:
        """All get what arrived, average if they wanted to, and step."""

    def models(self) -> NDArray[np.float64]:
        """One row for each."""

    def desynchronised(self) -> int:
        """Of all of them, so far."""


class NodesHere:
    """Nodes as objects, one after the other: nobody changes what it has sent."""

    def __init__(self, setting: ResolvedRun, nodes: Sequence[Algorithm], check: MessageCheck, first: int = 0) -> None:
        """`first`: the index of the first of these nodes."""
        self._setting, self._nodes, self._check, self._first = setting, nodes, check, first
        self._wanted: list[Wanted | None] = []
        self._inboxes: list[list[Received]] = [[] for _ in nodes]

    def begin(self, k: int) -> list[NodeTurn]:
        for node in self._nodes:
            node.prepare(k)
        mail = [
            compose(self._setting, self._check, node, sender, k) for sender, node in enumerate(self._nodes, self._first)
        ]
        self._wanted = [node.wanted(k) for node in self._nodes]
        return [NodeTurn(*both) for both in zip(mail, self._wanted, strict=True)]

    def end(self, k: int, arrived: Sequence[Sequence[Received]]) -> list[NodeEnd]:
        return [self._end(k, number, some) for number, some in enumerate(arrived)]

    def _end(self, k: int, number: int, arrived: Sequence[Received]) -> NodeEnd:
        node, wanted, inbox = self._nodes[number], self._wanted[number], [*self._inboxes[number], *arrived]
        is_read = wanted is not None or node.delivery is Delivery.LATEST
        self._inboxes[number] = [] if is_read else inbox
        coverage = None if wanted is None else node.absorb(k, inbox)
        node.step(k)
        return NodeEnd(inbox if is_read else [], coverage)

    def models(self) -> NDArray[np.float64]:
        return np.stack([node.model for node in self._nodes])

    def desynchronised(self) -> int:
        return sum(node.desynchronised for node in self._nodes)
