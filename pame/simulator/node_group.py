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


class NodeGroup(Protocol):
    """Nodes in ascending order; all lists have one entry for each of them."""

    def begin(self, k: int) -> Sequence[NodeTurn]:
        """All nodes prepare and send."""

    def arrive(self, k: int, arrived: Sequence[Sequence[Received]]) -> Sequence[Sequence[Received]]:
        """Put what arrived into their mailboxes; what each takes out at k, to average it or because it is late."""

    def end(self, k: int) -> Sequence[float | None]:
        """Each averages what it took, if it wanted to, and steps; the coverage where it averaged."""

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
        self._taken: list[list[Received]] = []

    def begin(self, k: int) -> list[NodeTurn]:
        for node in self._nodes:
            node.prepare(k)
        mail = [
            compose(self._setting, self._check, node, sender, k) for sender, node in enumerate(self._nodes, self._first)
        ]
        self._wanted = [node.wanted(k) for node in self._nodes]
        return [NodeTurn(*both) for both in zip(mail, self._wanted, strict=True)]

    def arrive(self, k: int, arrived: Sequence[Sequence[Received]]) -> list[list[Received]]:
        self._taken = []
        for number, (node, wanted) in enumerate(zip(self._nodes, self._wanted, strict=True)):
            inbox = [*self._inboxes[number], *arrived[number]]
            is_read = wanted is not None or node.delivery is Delivery.LATEST
            self._inboxes[number] = [] if is_read else inbox
            self._taken.append(inbox if is_read else [])
        return self._taken

    def end(self, k: int) -> list[float | None]:
        coverage: list[float | None] = []
        for node, wanted, taken in zip(self._nodes, self._wanted, self._taken, strict=True):
            coverage.append(None if wanted is None else node.absorb(k, taken))
            node.step(k)
        self._taken = []
        return coverage

    def models(self) -> NDArray[np.float64]:
        return np.stack([node.model for node in self._nodes])

    def desynchronised(self) -> int:
        return sum(node.desynchronised for node in self._nodes)
