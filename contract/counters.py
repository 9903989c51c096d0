"""The table of counters: what a node counts during a run, by link and by itself. A counter is one line here, and the
place that counts.

From its line follow its place in a node's reports (`counter_reports`), the range in which the orchestrator believes it,
its metric, its total over all nodes in summary.json, and its row in the report.

    whole      a number of things            seconds    time that adds up
    newest     how it is now: a metric, and nothing that could be totalled

Names are unique in the whole table: they are the keys of summary.json.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from typing import Any, assert_never

from pame.codec import Sizes

MOST_COUNTED = 2**48
"""Of anything that a node counts; the sums over all nodes and links of a run fit into 64 bits."""
MOST_SECONDS = 1e9
ROUND_TRIP_BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Total(Enum):
    """How the numbers of several links, or nodes, are put together."""

    SUM = auto()
    LARGEST = auto()
    NONE = auto()
    """Not at all, so that they are not reported; only nodes have such."""


@dataclass(frozen=True, slots=True)
class CounterEntry:
    """A line of the table."""

    words: str
    unit: str
    most: float
    """No node counts more."""
    total: Total
    metric: str
    """After `pame_link_` or `pame_node_`; empty: Prometheus does not see it."""
    kind: str = ""
    """Label of a metric that several counters share."""
    name: str = ""

    def together(self, numbers: Sequence[Any]) -> Any:
        match self.total:
            case Total.SUM:
                return sum(numbers)
            case Total.LARGEST:
                return max(numbers, default=0)
            case Total.NONE:
                [only] = numbers
                return only
            case _:
                assert_never(self.total)


def whole(
    words: str, unit: str, metric: str = "", kind: str = "", most: int = MOST_COUNTED, total: Total = Total.SUM
) -> Any:
    return field(default=0, metadata={"entry": CounterEntry(words, unit, most, total, metric, kind)})


def seconds(words: str, metric: str = "", total: Total = Total.SUM) -> Any:
    return field(default=0.0, metadata={"entry": CounterEntry(words, "s", MOST_SECONDS, total, metric)})


def newest(words: str, unit: str, metric: str, default: float | None = None) -> Any:
    return field(default=default, metadata={"entry": CounterEntry(words, unit, MOST_COUNTED, Total.NONE, metric)})


@dataclass(frozen=True, slots=True)
class SocketCounts:
    """What the kernel counted on a node's connections to one receiver."""

    connections: int = 0
    bytes_sent: int = 0
    """Payload, with what was sent again."""
    bytes_received: int = 0
    segments_out: int = 0
    segments_in: int = 0
    retransmitted: int = 0
    """Segments."""
    retransmitted_bytes: int = 0

    def __add__(self, other: "SocketCounts") -> "SocketCounts":
        return SocketCounts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(slots=True, eq=False)
class OutCounters:
    """One outgoing link. Each message given to it is sent, dropped or queued: one of them, once."""

    sent: int = whole("Handed to gRPC for the first time.", "messages", "sent_messages_total")
    values_bytes: int = whole("Values of the sent messages.", "bytes", "sent_bytes_total", kind="values")
    support_bytes: int = whole("Supports of the sent messages.", "bytes", "sent_bytes_total", kind="support")
    stars_bytes: int = whole("Stars of the sent messages.", "bytes", "sent_bytes_total", kind="stars")
    framing_bytes: int = whole("The codec's framing of the sent messages.", "bytes", "sent_bytes_total", kind="framing")
    protobuf_bytes: int = whole("Protobuf around vectors, each time.", "bytes", "sent_bytes_total", kind="protobuf")
    resent: int = whole("Handed to gRPC again, after a stream broke.", "messages", "resent_messages_total")
    resent_bytes: int = whole("Vectors handed to gRPC again.", "bytes")
    lost: int = whole("Dropped on purpose, by the draw of message loss.", "messages", "lost_messages_total")
    lost_bytes: int = whole("Bytes of the messages dropped on purpose.", "bytes", "lost_bytes_total")
    dropped: int = whole("Pushed out of the full queue, never sent.", "messages", "dropped_messages_total")
    dropped_bytes: int = whole("Vectors pushed out of the full queue.", "bytes")
    overtime: int = whole("Given to the link after the node's last iteration.", "messages", "overtime_messages_total")
    acknowledged: int = whole("Looked at by the receiver.", "messages", "acknowledged_messages_total")
    sent_late: int = whole("Said to be late by the receiver.", "messages", "sent_late_messages_total")
    sent_refused: int = whole("Refused by the receiver.", "messages", "sent_refused_messages_total")
    receipts: int = whole("Receipts from the receiver.", "receipts", "receipts_total")
    connects: int = whole("Times the stream to the receiver was opened.", "connections", "connects_total")
    queued: int = whole("Waiting now to be sent for the first time.", "messages", "queued_messages")
    queued_bytes: int = whole("Vectors that wait now to be sent for the first time.", "bytes")
    round_trips: int = whole("Round trips that were measured.", "round trips")
    round_trips_s: float = seconds("All measured round trips together.")
    longest_round_trip_s: float = seconds("The longest measured round trip.", total=Total.LARGEST)
    round_trip_buckets: list[int] = field(default_factory=lambda: [0] * (len(ROUND_TRIP_BOUNDS_S) + 1))
    """By the smallest bound that holds them; the last: above all bounds."""
    refused_by: dict[str, int] = field(default_factory=dict)
    """By reason; here and below, what is refused is counted in both."""
    sockets: SocketCounts | None = None
    """At the end of the run, if it could be counted."""

    @property
    def bytes(self) -> int:
        return self.values_bytes + self.support_bytes + self.stars_bytes + self.framing_bytes

    @property
    def sizes(self) -> Sizes:
        return Sizes(self.values_bytes, self.support_bytes, self.stars_bytes, self.framing_bytes)

    def by_kind(self) -> dict[str, int]:
        """Bytes sent: values, support, stars, framing, protobuf."""
        return {entry.kind: getattr(self, entry.name) for entry in TABLE[OutCounters] if entry.kind}

    @property
    def round_trip_s(self) -> float:
        """The mean; 0 without any."""
        return self.round_trips_s / self.round_trips if self.round_trips else 0.0

    def send(self, sizes: Sizes) -> None:
        self.sent += 1
        self.values_bytes += sizes.values
        self.support_bytes += sizes.support
        self.stars_bytes += sizes.stars
        self.framing_bytes += sizes.framing

    def refuse(self, reason: str) -> None:
        self.sent_refused += 1
        self.refused_by[reason] = self.refused_by.get(reason, 0) + 1

    def return_after(self, trip_s: float) -> None:
        self.round_trip_buckets[bisect_left(ROUND_TRIP_BOUNDS_S, trip_s)] += 1
        self.round_trips += 1
        self.round_trips_s += trip_s
        if trip_s > self.longest_round_trip_s:
            self.longest_round_trip_s = trip_s


@dataclass(slots=True, eq=False)
class InCounters:
    """One incoming link."""

    received: int = whole("Accepted into the mailbox.", "messages", "received_messages_total")
    received_bytes: int = whole("Bytes of the vectors accepted.", "bytes", "received_bytes_total")
    aggregated: int = whole("Averaged by this node.", "messages", "aggregated_messages_total")
    late: int = whole("Came when no round could use them any more.", "messages", "received_late_messages_total")
    late_bytes: int = whole("Bytes of the vectors that came late.", "bytes", "received_late_bytes_total")
    evicted: int = whole("Pushed out of the full mailbox.", "messages", "evicted_messages_total")
    refused: int = whole("Refused by this node.", "messages", "received_refused_messages_total")
    absurd: int = whole("Accepted, with values beyond the problem's scale.", "messages", "absurd_messages_total")
    suspect: int = whole("How many of these peers nobody waits for: 0 or 1 for one.", "peers", "suspect_peers", most=1)
    refused_by: dict[str, int] = field(default_factory=dict)
    refused_detail: str = ""
    """What was said of the last of them."""

    def refuse(self, reason: str) -> None:
        self.refused += 1
        self.refused_by[reason] = self.refused_by.get(reason, 0) + 1


@dataclass(slots=True, eq=False)
class NodeCounters:
    """One node in one run."""

    steps: int = whole("Local steps taken.", "steps", "steps_total")
    overran: int = whole("Iterations with more work than their nominal time.", "iterations", "overran_steps_total")
    rounds: int = whole("Rounds so far.", "rounds", "rounds_total")
    wanted: int = whole("What the rounds would have averaged if all had come.", "messages", "wanted_messages_total")
    averaged: int = whole("What the rounds did average.", "messages", "averaged_messages_total")
    starved: int = whole("Rounds for which no message came.", "rounds", "starved_rounds_total")
    expired: int = whole("Waits that ran out of patience.", "waits", "expired_waits_total")
    desynchronised: int = whole("Updates found missing, edges perhaps left out at one end alone.", "times")
    strangers: int = whole("Refused messages that named no neighbour.", "messages", "stranger_messages_total")
    snapshot_bytes: int = whole("Bytes of models sent to the orchestrator.", "bytes", "snapshot_bytes_total")
    resident_bytes: int = whole("Memory of the process at its largest.", "bytes", total=Total.LARGEST)
    step_s: float = seconds("Spent in gradients and steps, without padding.", "step_seconds_total")
    wait_s: float = seconds("Spent waiting for neighbours.", "wait_seconds_total")
    aggregate_s: float = seconds("Spent averaging messages.", "aggregate_seconds_total")
    snapshot_cpu_s: float = seconds("CPU time spent on snapshots.", "snapshot_cpu_seconds_total")
    cpu_s: float = seconds("CPU time of the process.")
    iteration: int = newest("The iteration this node is at.", "iterations", "iteration", 0)
    coverage: float | None = newest(
        "Messages of the last round that carry a coordinate, on average.", "messages", "coverage"
    )
    staleness: float | None = newest(
        "Mean age of the messages in the last round's average, in iterations.", "iterations", "staleness"
    )
    run: int = 0
    index: int | None = None
    out: dict[int, OutCounters] = field(default_factory=dict)
    into: dict[int, InCounters] = field(default_factory=dict)
    refused_by: dict[str, int] = field(default_factory=dict)
    """Messages that named no sender of this run, and streams that did not show its secret, by reason."""

    def refuse(self, reason: str) -> None:
        self.strangers += 1
        self.refused_by[reason] = self.refused_by.get(reason, 0) + 1


Counters = OutCounters | InCounters | NodeCounters
SCOPES: dict[type[Counters], str] = {OutCounters: "outgoing link", InCounters: "incoming link", NodeCounters: "node"}


def _read(counters: type[Counters]) -> tuple[CounterEntry, ...]:
    found = [(each.name, each.metadata.get("entry")) for each in fields(counters)]
    return tuple(replace(entry, name=name) for name, entry in found if entry is not None)


TABLE: dict[type[Any], tuple[CounterEntry, ...]] = {counters: _read(counters) for counters in SCOPES}


def totalled(counters: type[Counters]) -> tuple[CounterEntry, ...]:
    """Those that nodes report, and that have a total."""
    return tuple(entry for entry in TABLE[counters] if entry.total is not Total.NONE)
