"""What a node counts during a run: by link, by kind, by fate. Plain numbers, read by reports and by Prometheus."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

from contract.socket_counts import SocketCounts
from pame.codec import Sizes

ROUND_TRIP_BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Histogram:
    """How many values were at most each bound, their number and their sum."""

    def __init__(self, bounds: tuple[float, ...] = ROUND_TRIP_BOUNDS_S) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """By the smallest bound that holds them; the last: above all bounds."""
        self.sum = 0.0
        self.largest = 0.0

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)

    @property
    def mean(self) -> float:
        """Of all values; 0 without any."""
        return self.sum / self.count if self.count else 0.0

    def add(self, value: float) -> None:
        """One more value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value
        self.largest = max(self.largest, value)


@dataclass(slots=True)
class OutCounters:
    """One outgoing link. Each message given to it is sent, dropped or queued: one of them, once."""

    messages: int = 0
    """Sent: handed to gRPC for the first time."""
    sizes: Sizes = field(default_factory=Sizes)
    """Of their vectors, by kind."""
    protobuf_bytes: int = 0
    """What protobuf put around the vectors, each time they were handed to gRPC."""
    resent: int = 0
    """Handed to gRPC again, because a stream broke before they were acknowledged."""
    resent_bytes: int = 0
    lost: int = 0
    """Dropped on purpose, by the draw of `messages.loss`."""
    lost_bytes: int = 0
    dropped: int = 0
    """Pushed out of the full queue, never handed to gRPC."""
    dropped_bytes: int = 0
    overtime: int = 0
    """Given to the link after the last iteration of this node."""
    acknowledged: int = 0
    late: int = 0
    """Said to be late by the receiver."""
    receipts: int = 0
    connects: int = 0
    queued: int = 0
    """Waiting now, never handed to gRPC so far."""
    queued_bytes: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Refused by the receiver, by reason."""
    round_trips: Histogram = field(default_factory=Histogram)
    sockets: SocketCounts | None = None
    """At the end of the run, if it could be counted."""


@dataclass(slots=True)
class InCounters:
    """One incoming link."""

    messages: int = 0
    """Accepted into the mailbox."""
    bytes: int = 0
    """Of their vectors."""
    aggregated: int = 0
    late: int = 0
    late_bytes: int = 0
    evicted: int = 0
    absurd: int = 0
    """Accepted, with values beyond the problem's scale; part of `messages`."""
    suspect: bool = False
    refused: Counter[str] = field(default_factory=Counter)
    """Refused by this node, by reason."""
    refused_detail: str = ""
    """What was said of the last of them."""


@dataclass(slots=True)
class NodeCounters:
    """One node in one run."""

    run: int = 0
    index: int | None = None
    iteration: int = 0
    steps: int = 0
    step_s: float = 0.0
    """Spent in gradients and steps, without padding."""
    wait_s: float = 0.0
    aggregate_s: float = 0.0
    overran: int = 0
    """Iterations whose own work took longer than their nominal time, or that began later than by one."""
    rounds: int = 0
    wanted: int = 0
    """Messages the rounds so far would have averaged if all had come."""
    averaged: int = 0
    """Messages they did average."""
    starved: int = 0
    expired: int = 0
    """Waits that ran out of patience."""
    coverage: float | None = None
    """Of the last round: how many of its messages carry a coordinate, on average."""
    staleness: float | None = None
    """Of the last round: mean age of the messages in its average, in iterations; None if there was none."""
    snapshot_bytes: int = 0
    desynchronised: int = 0
    """How often an update was found missing, or an edge left out that the other end may have used."""
    snapshot_s: float = 0.0
    """CPU time spent on snapshots."""
    out: dict[int, OutCounters] = field(default_factory=dict)
    into: dict[int, InCounters] = field(default_factory=dict)
    strangers: Counter[str] = field(default_factory=Counter)
    """Refused parcels that named no sender of this run, and streams that did not show its secret, by reason."""
