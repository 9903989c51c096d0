"""The nodes' totals of their links, put together: the byte account of the run, and whether it was exact."""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from contract.counters import Counters, InCounters, NodeCounters, OutCounters, SocketCounts, totalled
from orchestrator.results.health import RefusedLink
from pame.byte_account import ByteAccount, Fate
from pame.framing import Traffic

C = TypeVar("C", OutCounters, InCounters, NodeCounters)
Who = tuple[int, int]
"""Node and incarnation."""
Pair = tuple[int, int]
"""Sender and receiver."""
WITHOUT_SENDER = "no sender named"
"""Refused before the receiver knew whose message it was: too large, no message at all."""


@dataclass(frozen=True)
class NetworkFigures:
    """What only a network has."""

    out: OutCounters
    """All outgoing links together; below all incoming ones, and all nodes."""
    into: InCounters
    node: NodeCounters
    round_trip_s: float
    """Mean over acknowledged messages."""
    absurd_senders: tuple[int, ...]
    """Nodes that sent values beyond the problem's scale."""
    suspects: tuple[int, ...]
    """Nodes that some neighbour did not wait for at the end."""

    @property
    def overran_share(self) -> float:
        return self.node.overran / self.node.steps if self.node.steps else 0.0

    @property
    def clean(self) -> bool:
        """Whether nothing was dropped, refused or waited for in vain."""
        return not (self.out.dropped or self.into.refused or self.node.expired or self.into.evicted)

    def by_name(self) -> dict[str, float]:
        """The total of every counter of the table."""
        parts: tuple[Counters, ...] = (self.out, self.into, self.node)
        return {entry.name: getattr(part, entry.name) for part in parts for entry in totalled(type(part))}


class Totals:
    """The newest totals of every node; those of a node that died stay, and its successor's are added."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._newest: dict[Who, NodeCounters] = {}
        self.heard_at: dict[Who, float] = {}
        """When they came, by the monotonic clock."""
        self._whole: set[int] = set()
        """Nodes whose own last word is known: nobody else is asked what they sent."""
        self._died: set[int] = set()

    def heard(self, who: Who, counted: NodeCounters) -> None:
        """A node's totals since it began."""
        self._newest[who] = counted
        self.heard_at[who] = time.monotonic()

    def finished(self, node: int) -> None:
        """A node has said all that it counted."""
        self._whole.add(node)

    def died(self, node: int) -> None:
        """What a node did after its last report will never be known from itself."""
        self._died.add(node)

    def by_node(self) -> Mapping[Who, NodeCounters]:
        return dict(self._newest)

    def out(self) -> OutCounters:
        return _together(OutCounters, [link for _, link in self._sent()])

    def figures(self) -> NetworkFigures:
        sent, taken, out = self._sent(), self._taken(), self.out()
        trips_s = sum(link.round_trip_s * link.acknowledged for _, link in sent)
        return NetworkFigures(
            out=out,
            into=_together(InCounters, [link for _, link in taken]),
            node=_together(NodeCounters, list(self.by_node().values())),
            round_trip_s=trips_s / out.acknowledged if out.acknowledged else 0.0,
            absurd_senders=tuple(sorted({sender for (sender, _), link in taken if link.absurd})),
            suspects=tuple(sorted({sender for (sender, _), link in taken if link.suspect})),
        )

    def account(self) -> ByteAccount:
        account, out = ByteAccount(self._nodes), self.out()
        account.kinds, account.overtime = out.sizes, out.overtime
        account.starved = sum(node.starved for node in self._newest.values())
        account.desynchronised = sum(node.desynchronised for node in self._newest.values())
        for pair, sent in self._sent():
            _enter(account, Fate.SENT, pair, sent.sent, sent.bytes)
            _enter(account, Fate.LOST, pair, sent.lost, sent.lost_bytes)
            _enter(account, Fate.DROPPED, pair, sent.dropped, sent.dropped_bytes)
            _enter(account, Fate.QUEUED, pair, sent.queued, sent.queued_bytes)
            _enter(account, Fate.RESENT, pair, sent.resent, sent.resent_bytes)
        for pair, taken in self._taken():
            _enter(account, Fate.AGGREGATED, pair, taken.aggregated, 0)
            _enter(account, Fate.LATE, pair, taken.late, taken.late_bytes)
            _enter(account, Fate.EVICTED, pair, taken.evicted, 0)
        self._top_up(account)
        return account

    def refused(self, is_over: bool = False) -> list[RefusedLink]:
        """The links on which a receiver refused messages of its neighbour; some name no sender, so that only the sender
        knows, and both are to be compared when all reports are there (`is_over`)."""
        accepted, told = _by_pair(self._taken(), "received"), _by_pair(self._sent(), "sent_refused")
        refused: defaultdict[Pair, Counter[str]] = defaultdict(Counter)
        details: dict[Pair, str] = {}
        for pair, taken in self._taken():
            if taken.refused_by:
                refused[pair].update(taken.refused_by)
                details[pair] = taken.refused_detail
        for pair, times in told.items() if is_over else ():
            if (more := times - refused[pair].total()) > 0 and pair[1] not in self._died:
                refused[pair][WITHOUT_SENDER] += more
        return [
            RefusedLink(*pair, counts, accepted[pair], told[pair], details.get(pair, ""))
            for pair, counts in sorted(refused.items())
            if counts
        ]

    def traffic(self, seconds: float, tls: bool = False) -> Traffic:
        """What the framing model needs to know of the data links; `seconds`: how long they were in use."""
        out, unreported = self.out(), self._unreported().values()
        return Traffic(
            messages=out.sent,
            sizes=out.sizes,
            protobuf=out.protobuf_bytes,
            receipts=out.receipts,
            connects=out.connects,
            seconds=seconds,
            tls=tls,
            resent=out.resent,
            resent_bytes=out.resent_bytes,
            unreported=sum(messages for messages, _ in unreported),
            unreported_bytes=sum(size for _, size in unreported),
        )

    def sockets(self) -> dict[Pair, SocketCounts]:
        """What the kernels counted on the data connections, by sender and receiver; empty if no node could ask."""
        counts: dict[Pair, SocketCounts] = {}
        for pair, link in self._sent():
            if link.sockets is not None:
                counts[pair] = counts.get(pair, SocketCounts()) + link.sockets
        return counts

    def _sent(self) -> list[tuple[Pair, OutCounters]]:
        """Outgoing links; one of a node that came back is there once for each of its processes, in their order."""
        found = sorted(self._newest.items())
        return [((node, receiver), link) for (node, _), counted in found for receiver, link in counted.out.items()]

    def _taken(self) -> list[tuple[Pair, InCounters]]:
        found = sorted(self._newest.items())
        return [((sender, node), link) for (node, _), counted in found for sender, link in counted.into.items()]

    def _top_up(self, account: ByteAccount) -> None:
        """The unreported messages were sent; as many of those that waited at the last report do so no more."""
        waiting, size = _by_pair(self._sent(), "queued"), _by_pair(self._sent(), "queued_bytes")
        for pair, (more, more_bytes) in self._unreported().items():
            _enter(account, Fate.SENT, pair, more, more_bytes)
            _enter(account, Fate.UNREPORTED, pair, more, more_bytes)
            if gone := min(more, waiting[pair]):
                _enter(account, Fate.QUEUED, pair, -gone, -(gone * size[pair] // waiting[pair]))

    def _unreported(self) -> dict[Pair, tuple[int, int]]:
        """By link: messages and bytes that a killed node sent after its last report; its receivers tell at least so.

        They cannot have got more than was handed over, and one that came back gets again what it did not acknowledge.
        """
        found: dict[Pair, tuple[int, int]] = {}
        sent, taken = self._sent(), self._taken()
        handed_over, size = _by_pair(sent, "sent", "resent"), _by_pair(taken, "received_bytes")
        for pair, messages in _by_pair(taken, "received").items():
            if pair[0] in self._whole - self._died:
                continue
            more = messages - handed_over[pair]
            if more > 0:
                found[pair] = more, more * size[pair] // messages
        return found


def _together(table: type[C], counted: Sequence[C]) -> C:
    made = table()
    for entry in totalled(table):
        setattr(made, entry.name, entry.together([getattr(each, entry.name) for each in counted]))
    return made


def _by_pair(links: Sequence[tuple[Pair, OutCounters | InCounters]], *names: str) -> Counter[Pair]:
    """Sums of these counters."""
    sums: Counter[Pair] = Counter()
    for pair, link in links:
        sums[pair] += sum(getattr(link, name) for name in names)
    return sums


def _enter(account: ByteAccount, fate: Fate, pair: Pair, messages: int, size: int) -> None:
    if messages:
        account.add_totals(fate, *(np.array([value]) for value in (*pair, messages, size)))
