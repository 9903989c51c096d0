"""The nodes' totals of their links, turned into what flows now: bytes per second over the last few seconds."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from contract.rpc import control_pb2 as pb
from orchestrator.control.totals import Totals

WINDOW_S = 5.0
_SHORTEST_S = 0.2

Seat = tuple[int, int]
"""Node and incarnation."""


class Flow(NamedTuple):
    """One link: bytes so far (as in links.csv), and bytes per second now."""

    bytes: int
    rate: float


NOTHING = Flow(0, 0.0)


@dataclass(frozen=True, slots=True)
class Troubles:
    """Sums over all nodes."""

    refused: int = 0
    dropped: int = 0
    evicted: int = 0
    expired: int = 0
    absurd: int = 0

    def __add__(self, other: "Troubles") -> "Troubles":
        return Troubles(
            self.refused + other.refused,
            self.dropped + other.dropped,
            self.evicted + other.evicted,
            self.expired + other.expired,
            self.absurd + other.absurd,
        )


@dataclass(slots=True)
class _Heard:
    """What one process said: its bytes by receiver, at the last few times; the rest only the last time."""

    sent: deque[tuple[float, dict[int, int]]] = field(default_factory=deque)
    troubles: Troubles = field(default_factory=Troubles)
    suspects: frozenset[int] = frozenset()

    def take(self, at: float, report: pb.Report) -> None:
        self.sent.append((at, {link.receiver: _size(link) for link in report.out}))
        while len(self.sent) > 2 and self.sent[1][0] <= at - WINDOW_S:
            self.sent.popleft()
        self.troubles = _troubles(report)
        self.suspects = frozenset(link.sender for link in report.into if link.suspect)

    def flows(self, now: float) -> dict[int, Flow]:
        (began, before), (at, newest) = self.sent[0], self.sent[-1]
        if at - began < _SHORTEST_S or now - at > WINDOW_S:
            return {receiver: Flow(size, 0.0) for receiver, size in newest.items()}
        spent = at - began
        return {receiver: Flow(size, (size - before.get(receiver, 0)) / spent) for receiver, size in newest.items()}


class LinkRates:
    """All links of one run; a node that came back counts on from what it had sent before."""

    def __init__(self) -> None:
        self._heard: dict[Seat, _Heard] = {}

    def take(self, totals: Totals) -> None:
        """Look at the totals that are new."""
        reports = totals.by_node()
        for seat, at in totals.heard_at.items():
            heard = self._heard.setdefault(seat, _Heard())
            if not heard.sent or heard.sent[-1][0] < at:
                heard.take(at, reports[seat])

    def links(self, now: float) -> dict[tuple[int, int], Flow]:
        """By sender and receiver."""
        links: dict[tuple[int, int], Flow] = {}
        for (node, incarnation), heard in self._heard.items():
            for receiver, flow in heard.flows(now).items():
                former = links.get((node, receiver), NOTHING) if incarnation else NOTHING
                links[node, receiver] = Flow(former.bytes + flow.bytes, former.rate + flow.rate)
        return links

    def troubles(self) -> Troubles:
        """Of the whole run so far."""
        return sum((heard.troubles for heard in self._heard.values()), Troubles())

    def suspects(self, seats: set[Seat]) -> set[int]:
        """Nodes that one of these processes does not wait for."""
        return {node for seat in seats & self._heard.keys() for node in self._heard[seat].suspects}


def _size(link: pb.OutLink) -> int:
    return link.values_bytes + link.support_bytes + link.stars_bytes + link.framing_bytes


def _troubles(report: pb.Report) -> Troubles:
    return Troubles(
        refused=sum(link.refused for link in report.into) + report.totals.refused_strangers,
        dropped=sum(link.dropped for link in report.out),
        evicted=sum(link.evicted for link in report.into),
        absurd=sum(link.absurd for link in report.into),
        expired=report.totals.expired,
    )
