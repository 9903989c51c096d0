"""The nodes' totals of their links, put together: the byte account of the run, and whether it was exact."""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from contract.refusals import refusal_name
from contract.rpc import control_pb2 as pb
from contract.socket_counts import SocketCounts
from orchestrator.results.health import RefusedLink
from pame.byte_account import ByteAccount, Fate
from pame.codec import Sizes
from pame.framing import Traffic


@dataclass(frozen=True)
class NetworkFigures:
    """What only a network has; sums over all nodes unless said otherwise."""

    protobuf_bytes: int = 0
    dropped: int = 0
    refused: int = 0
    strangers: int = 0
    """Refused parcels that named no neighbour."""
    absurd: int = 0
    """Accepted messages with values beyond the problem's scale."""
    absurd_senders: tuple[int, ...] = field(default_factory=tuple)
    """Nodes that sent them."""
    expired: int = 0
    evicted: int = 0
    connects: int = 0
    receipts: int = 0
    steps: int = 0
    overran: int = 0
    cpu_s: float = 0.0
    resident_bytes: int = 0
    """The largest node."""
    round_trip_s: float = 0.0
    """Mean over acknowledged messages."""
    longest_round_trip_s: float = 0.0
    snapshot_cpu_s: float = 0.0
    snapshot_bytes: int = 0
    suspects: tuple[int, ...] = field(default_factory=tuple)
    """Nodes that some neighbour did not wait for at the end."""

    @property
    def overran_share(self) -> float:
        """Of the steps."""
        return self.overran / self.steps if self.steps else 0.0

    @property
    def clean(self) -> bool:
        """Whether nothing was dropped, refused or waited for in vain."""
        return not (self.dropped or self.refused or self.expired or self.evicted)


WITHOUT_SENDER = "no sender named"
"""Refused before the receiver knew whose message it was: too large, no message at all."""


class Totals:
    """The newest totals of every node; those of a node that died stay, and its successor's are added."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._newest: dict[tuple[int, int], pb.Report] = {}
        """By node and incarnation."""
        self.heard_at: dict[tuple[int, int], float] = {}
        """When they came, by the monotonic clock."""
        self._whole: set[int] = set()
        """Nodes whose own last word is known: nobody else is asked what they sent."""
        self._died: set[int] = set()

    def heard(self, node: int, incarnation: int, report: pb.Report) -> None:
        """A node's totals since it began."""
        if report.HasField("totals"):
            self._newest[node, incarnation] = report
            self.heard_at[node, incarnation] = time.monotonic()

    def finished(self, node: int) -> None:
        """A node has said all that it counted."""
        self._whole.add(node)

    def died(self, node: int) -> None:
        """What a node did after its last report will never be known from itself."""
        self._died.add(node)

    def sent_by_kind(self) -> dict[str, int]:
        """Bytes: values, support, stars, framing, protobuf."""
        out = [link for report in list(self._newest.values()) for link in report.out]
        return {
            "values": sum(link.values_bytes for link in out),
            "support": sum(link.support_bytes for link in out),
            "stars": sum(link.stars_bytes for link in out),
            "framing": sum(link.framing_bytes for link in out),
            "protobuf": sum(link.protobuf_bytes for link in out),
        }

    def ledger(self) -> ByteAccount:
        """The account by link."""
        ledger = ByteAccount(self._nodes)
        kinds = self.sent_by_kind()
        ledger.kinds = Sizes(kinds["values"], kinds["support"], kinds["stars"], kinds["framing"])
        for (node, _), report in self._newest.items():
            ledger.starved += report.totals.starved
            ledger.overtime += sum(link.overtime for link in report.out)
            for link in report.out:
                size = link.values_bytes + link.support_bytes + link.stars_bytes + link.framing_bytes
                _enter(ledger, Fate.SENT, node, link.receiver, link.messages, size)
                _enter(ledger, Fate.LOST, node, link.receiver, link.lost, link.lost_bytes)
                _enter(ledger, Fate.DROPPED, node, link.receiver, link.dropped, link.dropped_bytes)
                _enter(ledger, Fate.QUEUED, node, link.receiver, link.queued, link.queued_bytes)
                _enter(ledger, Fate.RESENT, node, link.receiver, link.resent, link.resent_bytes)
            for incoming in report.into:
                _enter(ledger, Fate.AGGREGATED, incoming.sender, node, incoming.aggregated, 0)
                _enter(ledger, Fate.LATE, incoming.sender, node, incoming.late, incoming.late_bytes)
                _enter(ledger, Fate.EVICTED, incoming.sender, node, incoming.evicted, 0)
        ledger.desynchronised = self.desynchronised()
        self._top_up(ledger)
        return ledger

    def refused(self, is_over: bool = False) -> list[RefusedLink]:
        """The links on which a receiver refused messages of its neighbour; some name no sender, so that only the sender
        knows, and both are to be compared when all reports are there (`is_over`)."""
        accepted: Counter[tuple[int, int]] = Counter()
        told: Counter[tuple[int, int]] = Counter()
        refused: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        details: dict[tuple[int, int], str] = {}
        for (node, _), report in sorted(self._newest.items()):
            for incoming in report.into:
                pair = incoming.sender, node
                accepted[pair] += incoming.messages
                for count in incoming.refused_by:
                    refused[pair][refusal_name(count.refusal)] += count.messages
                    details[pair] = incoming.refused_detail
            for link in report.out:
                told[node, link.receiver] += link.refused
        for pair, times in told.items() if is_over else ():
            if (more := times - refused[pair].total()) > 0 and pair[1] not in self._died:
                refused[pair][WITHOUT_SENDER] += more
        return [
            RefusedLink(*pair, counts, accepted[pair], told[pair], details.get(pair, ""))
            for pair, counts in sorted(refused.items())
            if counts
        ]

    def desynchronised(self) -> int:
        """Updates that replicas lack, and flows that were given up."""
        return sum(report.totals.desynchronised for report in self._newest.values())

    def traffic(self, seconds: float, tls: bool = False) -> Traffic:
        """What the framing model needs to know of the data links; `seconds`: how long they were in use."""
        out = [link for report in list(self._newest.values()) for link in report.out]
        kinds, unreported = self.sent_by_kind(), self._unreported().values()
        return Traffic(
            messages=sum(link.messages for link in out),
            sizes=Sizes(kinds["values"], kinds["support"], kinds["stars"], kinds["framing"]),
            protobuf=kinds["protobuf"],
            receipts=sum(link.receipts for link in out),
            connects=sum(link.connects for link in out),
            seconds=seconds,
            tls=tls,
            resent=sum(link.resent for link in out),
            resent_bytes=sum(link.resent_bytes for link in out),
            unreported=sum(messages for messages, _ in unreported),
            unreported_bytes=sum(size for _, size in unreported),
        )

    def sockets(self) -> dict[tuple[int, int], SocketCounts]:
        """What the kernels counted on the data connections, by sender and receiver; empty if no node could ask."""
        counts: dict[tuple[int, int], SocketCounts] = {}
        for (node, _), report in sorted(self._newest.items()):
            for link in report.out:
                if link.HasField("sockets"):
                    pair = node, link.receiver
                    counts[pair] = counts.get(pair, SocketCounts()) + _counts(link.sockets)
        return counts

    def _top_up(self, ledger: ByteAccount) -> None:
        """The unreported messages were sent; as many of those that waited at the last report do so no more."""
        waiting: Counter[tuple[int, int]] = Counter()
        size: Counter[tuple[int, int]] = Counter()
        for (node, _), report in self._newest.items():
            for link in report.out:
                waiting[node, link.receiver] += link.queued
                size[node, link.receiver] += link.queued_bytes
        for pair, (more, more_bytes) in self._unreported().items():
            _enter(ledger, Fate.SENT, *pair, more, more_bytes)
            _enter(ledger, Fate.UNREPORTED, *pair, more, more_bytes)
            if gone := min(more, waiting[pair]):
                _enter(ledger, Fate.QUEUED, *pair, -gone, -(gone * size[pair] // waiting[pair]))

    def _unreported(self) -> dict[tuple[int, int], tuple[int, int]]:
        """By link: messages and bytes that a killed node sent after its last report; its receivers tell at least so.

        They cannot have got more than was handed over, and one that came back gets again what it did not acknowledge.
        """
        found: dict[tuple[int, int], tuple[int, int]] = {}
        sent: Counter[tuple[int, int]] = Counter()
        got: Counter[tuple[int, int]] = Counter()
        size: Counter[tuple[int, int]] = Counter()
        for (node, _), report in self._newest.items():
            for link in report.out:
                sent[node, link.receiver] += link.messages + link.resent
            for incoming in report.into:
                got[incoming.sender, node] += incoming.messages
                size[incoming.sender, node] += incoming.bytes
        for (sender, receiver), messages in got.items():
            if sender in self._whole - self._died:
                continue
            more = messages - sent[sender, receiver]
            if more > 0:
                found[sender, receiver] = more, more * size[sender, receiver] // messages
        return found

    def figures(self) -> NetworkFigures:
        """Everything that is not in the ledger."""
        reports = list(self._newest.values())
        out = [link for report in reports for link in report.out]
        into = [link for report in reports for link in report.into]
        totals = [report.totals for report in reports]
        acknowledged = sum(link.acknowledged for link in out)
        return NetworkFigures(
            protobuf_bytes=sum(link.protobuf_bytes for link in out),
            dropped=sum(link.dropped for link in out),
            refused=sum(link.refused for link in into),
            strangers=sum(total.refused_strangers for total in totals),
            absurd=sum(link.absurd for link in into),
            absurd_senders=tuple(sorted({link.sender for link in into if link.absurd})),
            expired=sum(total.expired for total in totals),
            evicted=sum(link.evicted for link in into),
            connects=sum(link.connects for link in out),
            receipts=sum(link.receipts for link in out),
            steps=sum(total.steps for total in totals),
            overran=sum(total.overran for total in totals),
            cpu_s=sum(total.cpu_s for total in totals),
            resident_bytes=max((total.resident_bytes for total in totals), default=0),
            round_trip_s=sum(link.round_trip_s * link.acknowledged for link in out) / acknowledged
            if acknowledged
            else 0.0,
            longest_round_trip_s=max((link.longest_round_trip_s for link in out), default=0.0),
            snapshot_cpu_s=sum(total.snapshot_cpu_s for total in totals),
            snapshot_bytes=sum(total.snapshot_bytes for total in totals),
            suspects=tuple(sorted({link.sender for link in into if link.suspect})),
        )

    def by_node(self) -> Mapping[tuple[int, int], pb.Report]:
        """The newest totals, by node and incarnation."""
        return dict(self._newest)


def _counts(said: pb.SocketTotals) -> SocketCounts:
    return SocketCounts(
        said.connections,
        said.bytes_sent,
        said.bytes_received,
        said.segments_out,
        said.segments_in,
        said.retransmitted_segments,
        said.retransmitted_bytes,
    )


def _enter(ledger: ByteAccount, fate: Fate, sender: int, receiver: int, messages: int, size: int) -> None:
    if messages:
        ledger.add_totals(fate, *(np.array([value]) for value in (sender, receiver, messages, size)))
