"""The nodes' totals of their links, put together: the byte account of the run, and whether it was exact."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from node.sockets import SocketCounts
from pame.codec import Sizes
from pame.framing import Traffic
from pame.ledger import Fate, Ledger
from pame.rpc import control_pb2 as pb


@dataclass(frozen=True)
class NetworkFigures:
    """What only a network has; sums over all nodes unless said otherwise."""

    protobuf_bytes: int = 0
    dropped: int = 0
    refused: int = 0
    strangers: int = 0
    """Refused parcels that named no neighbour."""
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


class Totals:
    """The newest totals of every node; those of a node that died stay, and its successor's are added."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._newest: dict[tuple[int, int], pb.Report] = {}
        """By node and incarnation."""
        self.heard_at: dict[tuple[int, int], float] = {}
        """When they came, by the monotonic clock."""

    def heard(self, node: int, incarnation: int, report: pb.Report) -> None:
        """A node's totals since it began."""
        if report.HasField("totals"):
            self._newest[node, incarnation] = report
            self.heard_at[node, incarnation] = time.monotonic()

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

    def ledger(self) -> Ledger:
        """The account by link."""
        ledger = Ledger(self._nodes)
        kinds = self.sent_by_kind()
        ledger.kinds = Sizes(kinds["values"], kinds["support"], kinds["stars"], kinds["framing"])
        for (node, _), report in self._newest.items():
            ledger.starved += report.totals.starved
            ledger.desynchronised += report.totals.desynchronised
            ledger.overtime += sum(link.overtime for link in report.out)
            for link in report.out:
                size = link.values_bytes + link.support_bytes + link.stars_bytes + link.framing_bytes
                _enter(ledger, Fate.SENT, node, link.receiver, link.messages, size)
                _enter(ledger, Fate.LOST, node, link.receiver, link.lost, link.lost_bytes)
            for incoming in report.into:
                _enter(ledger, Fate.AGGREGATED, incoming.sender, node, incoming.aggregated, 0)
                _enter(ledger, Fate.LATE, incoming.sender, node, incoming.late, incoming.late_bytes)
                _enter(ledger, Fate.EVICTED, incoming.sender, node, incoming.evicted, 0)
        self._top_up(ledger)
        return ledger

    def traffic(self, seconds: float, tls: bool = False) -> Traffic:
        """What the framing model needs to know of the data links; `seconds`: how long they were in use."""
        out = [link for report in list(self._newest.values()) for link in report.out]
        kinds = self.sent_by_kind()
        return Traffic(
            messages=sum(link.messages for link in out),
            sizes=Sizes(kinds["values"], kinds["support"], kinds["stars"], kinds["framing"]),
            protobuf=kinds["protobuf"],
            receipts=sum(link.receipts for link in out),
            connects=sum(link.connects for link in out),
            seconds=seconds,
            tls=tls,
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

    def _top_up(self, ledger: Ledger) -> None:
        """What a killed node sent after its last report is known only to its receivers: they cannot have got more."""
        sent: Counter[tuple[int, int]] = Counter()
        got: Counter[tuple[int, int]] = Counter()
        size: Counter[tuple[int, int]] = Counter()
        for (node, _), report in self._newest.items():
            for link in report.out:
                sent[node, link.receiver] += link.messages
            for incoming in report.into:
                got[incoming.sender, node] += incoming.messages
                size[incoming.sender, node] += incoming.bytes
        for (sender, receiver), messages in got.items():
            more = messages - sent[sender, receiver]
            if more > 0:
                _enter(ledger, Fate.SENT, sender, receiver, more, more * size[sender, receiver] // messages)

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


def _enter(ledger: Ledger, fate: Fate, sender: int, receiver: int, messages: int, size: int) -> None:
    if messages:
        ledger.add_totals(fate, *(np.array([value]) for value in (sender, receiver, messages, size)))
