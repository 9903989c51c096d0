"""The nodes' totals of their links, turned into what flows now: bytes per second over the last few seconds."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from contract.counters import NodeCounters
from orchestrator.control.totals import Totals, Who

WINDOW_S = 5.0
_SHORTEST_S = 0.2


class Flow(NamedTuple):
    """One link: bytes so far (as in links.csv), and bytes per second now."""

    bytes: int
    rate: float


class NodeSums(NamedTuple):
    """One node so far, all its incarnations together."""

    waited: float = 0.0
    """Seconds for neighbours."""
    sent: int = 0
    received: int = 0
    """Bytes of vectors."""


NOTHING = Flow(0, 0.0)


@dataclass(slots=True)
class _Heard:
    """What one process said: its bytes by receiver, at the last few times; the rest only the last time."""

    sent: deque[tuple[float, dict[int, int]]] = field(default_factory=deque)
    suspects: frozenset[int] = frozenset()
    waited: float = 0.0
    received: int = 0

    def take(self, at: float, counted: NodeCounters) -> None:
        self.sent.append((at, {receiver: link.bytes for receiver, link in counted.out.items()}))
        while len(self.sent) > 2 and self.sent[1][0] <= at - WINDOW_S:
            self.sent.popleft()
        self.suspects = frozenset(sender for sender, link in counted.into.items() if link.suspect)
        self.waited, self.received = counted.wait_s, sum(link.received_bytes for link in counted.into.values())

    def flows(self, now: float) -> dict[int, Flow]:
        (began, before), (at, newest) = self.sent[0], self.sent[-1]
        if at - began < _SHORTEST_S or now - at > WINDOW_S:
            return {receiver: Flow(size, 0.0) for receiver, size in newest.items()}
        spent = at - began
        return {receiver: Flow(size, (size - before.get(receiver, 0)) / spent) for receiver, size in newest.items()}


class LinkRates:
    """All links of one run; a node that came back counts on from what it had sent before."""

    def __init__(self) -> None:
        self._heard: dict[Who, _Heard] = {}

    def take(self, totals: Totals) -> None:
        """Look at the totals that are new."""
        reports = totals.by_node()
        for seat, at in totals.heard_at.items():
            heard = self._heard.setdefault(seat, _Heard())
            if not heard.sent or heard.sent[-1][0] < at:
                heard.take(at, reports[seat])

    def links(self, now: float) -> dict[tuple[int, int], Flow]:
        links: dict[tuple[int, int], Flow] = {}
        for (node, incarnation), heard in self._heard.items():
            for receiver, flow in heard.flows(now).items():
                former = links.get((node, receiver), NOTHING) if incarnation else NOTHING
                links[node, receiver] = Flow(former.bytes + flow.bytes, former.rate + flow.rate)
        return links

    def suspects(self, processes: set[Who]) -> set[int]:
        """Nodes that one of these processes does not wait for."""
        return {node for who in processes & self._heard.keys() for node in self._heard[who].suspects}

    def node_sums(self) -> dict[int, NodeSums]:
        sums: dict[int, NodeSums] = {}
        for (node, _), heard in self._heard.items():
            before, sent = sums.get(node, NodeSums()), sum(heard.sent[-1][1].values()) if heard.sent else 0
            sums[node] = NodeSums(before.waited + heard.waited, before.sent + sent, before.received + heard.received)
        return sums
