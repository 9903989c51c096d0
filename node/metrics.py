"""The figures of a node for Prometheus: read from its account at every scrape (`metrics_server`).

    pame_link_*    by `peer`, the neighbour's index; all but the 32 smallest are summed as "others"
    pame_node_*    this node; Prometheus itself adds which one it is

Totals count from the beginning of the run; a new run begins at 0, which Prometheus takes for a restarted counter.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import TypeVar

from prometheus_client import Metric, core
from prometheus_client.registry import Collector

from contract.ports.metric_families import (
    KINDS,
    NAMED,
    OTHERS,
    Build,
    Samples,
    build_info,
    by_reason,
    family,
    refused_handshakes,
    refused_requests,
)
from contract.run_name import run_name
from node.counters import ROUND_TRIP_BOUNDS_S, Histogram, InCounters, NodeCounters, OutCounters
from pame.codec import Sizes

T = TypeVar("T")
Figures = tuple[tuple[str, str, Callable[[T], float | None]], ...]


class NodeCollector(Collector):
    """Reads the node's current account, which may change meanwhile, at every scrape."""

    def __init__(
        self,
        read: Callable[[], NodeCounters],
        build: Build,
        handshakes: Callable[[], Mapping[str, int]] = dict,
        requests: Mapping[str, int] | None = None,
    ) -> None:
        """`handshakes`, `requests`: refused ones, by reason."""
        self._read = read
        self._build = build
        self._handshakes = handshakes
        self._requests = requests or {}

    def collect(self) -> Iterator[Metric]:
        """All families of one scrape."""
        account = self._read()
        # dict() is one C call: no other thread can change a dictionary in the middle of its copy. Here and below.
        out, into = dict(account.out), dict(account.into)
        named = frozenset(sorted(out.keys() | into.keys())[:NAMED])
        yield build_info(self._build)
        place = {} if account.index is None else {"run": run_name(account.run), "index": str(account.index)}
        yield core.InfoMetricFamily("pame_node", "The run of this node and its index in it.", value=place)
        for name, documentation, value in _NODE:
            yield family(f"pame_node_{name}", documentation, [], {(): value(account)})
        yield _round_trips([link.round_trips for link in out.values()])
        yield _refused("sent", "By the receiver.", [link.refused for link in out.values()])
        yield _refused("received", "By this node.", [account.strangers, *(link.refused for link in into.values())])
        yield refused_handshakes("node", self._handshakes())
        yield refused_requests("node", self._requests)
        yield _sent_bytes(_grouped(out, named))
        yield from _links(_grouped(out, named), _OUT)
        yield from _links(_grouped(into, named), _INTO)


_NODE: Figures[NodeCounters] = (
    ("iteration", "The iteration this node is at.", lambda node: node.iteration),
    ("steps_total", "Local steps taken.", lambda node: node.steps),
    ("step_seconds_total", "Spent in gradients and steps, without padding.", lambda node: node.step_s),
    ("wait_seconds_total", "Spent waiting for neighbours.", lambda node: node.wait_s),
    ("aggregate_seconds_total", "Spent averaging messages.", lambda node: node.aggregate_s),
    ("overran_steps_total", "Iterations with more work than their nominal time.", lambda node: node.overran),
    ("rounds_total", "Rounds so far.", lambda node: node.rounds),
    ("wanted_messages_total", "What the rounds would have averaged if all had come.", lambda node: node.wanted),
    ("averaged_messages_total", "What the rounds did average.", lambda node: node.averaged),
    ("participation_ratio", "Averaged messages per wanted one.", lambda n: n.averaged / n.wanted if n.wanted else None),
    ("starved_rounds_total", "Rounds for which no message came.", lambda node: node.starved),
    ("expired_waits_total", "Waits that ran out of patience.", lambda node: node.expired),
    ("coverage", "Messages of the last round that carry a coordinate, on average.", lambda node: node.coverage),
    ("staleness", "Mean age of the messages in the last round's average, in iterations.", lambda node: node.staleness),
    ("stranger_messages_total", "Refused parcels that named no neighbour.", lambda n: sum(dict(n.strangers).values())),
    ("snapshot_bytes_total", "Bytes of models sent to the orchestrator.", lambda node: node.snapshot_bytes),
    ("snapshot_cpu_seconds_total", "CPU time spent on snapshots.", lambda node: node.snapshot_s),
)
_OUT: Figures[OutCounters] = (
    ("sent_messages_total", "Handed to gRPC for the first time.", lambda link: link.messages),
    ("resent_messages_total", "Handed to gRPC again, after a stream broke.", lambda link: link.resent),
    ("overtime_messages_total", "Given to the link after the node's last iteration.", lambda link: link.overtime),
    ("lost_messages_total", "Dropped on purpose, by the draw of message loss.", lambda link: link.lost),
    ("lost_bytes_total", "Bytes of the messages dropped on purpose.", lambda link: link.lost_bytes),
    ("dropped_messages_total", "Pushed out of the full queue, never sent.", lambda link: link.dropped),
    ("acknowledged_messages_total", "Looked at by the receiver.", lambda link: link.acknowledged),
    ("sent_late_messages_total", "Said to be late by the receiver.", lambda link: link.late),
    ("sent_refused_messages_total", "Refused by the receiver.", lambda link: sum(dict(link.refused).values())),
    ("receipts_total", "Receipts from the receiver.", lambda link: link.receipts),
    ("connects_total", "Times the stream to the receiver was opened.", lambda link: link.connects),
    ("queued_messages", "Waiting now to be sent for the first time.", lambda link: link.queued),
)
_INTO: Figures[InCounters] = (
    ("received_messages_total", "Accepted into the mailbox.", lambda link: link.messages),
    ("received_bytes_total", "Bytes of the vectors accepted.", lambda link: link.bytes),
    ("aggregated_messages_total", "Averaged by this node.", lambda link: link.aggregated),
    ("received_late_messages_total", "Came when no round could use them any more.", lambda link: link.late),
    ("received_late_bytes_total", "Bytes of the vectors that came late.", lambda link: link.late_bytes),
    ("evicted_messages_total", "Pushed out of the full mailbox.", lambda link: link.evicted),
    ("received_refused_messages_total", "Refused by this node.", lambda link: sum(dict(link.refused).values())),
    ("absurd_messages_total", "Accepted, with values beyond the problem's scale.", lambda link: link.absurd),
    ("suspect_peers", "How many of these peers nobody waits for: 0 or 1 for one.", lambda link: link.suspect),
)


def _round_trips(histograms: Sequence[Histogram]) -> Metric:
    nothing = [0] * (len(ROUND_TRIP_BOUNDS_S) + 1)
    counts = [sum(column) for column in zip(nothing, *(each.counts for each in histograms), strict=True)]
    seconds = sum(each.sum for each in histograms)
    buckets = list(zip([*map(str, ROUND_TRIP_BOUNDS_S), "+Inf"], accumulate(counts), strict=True))
    documentation = "From leaving the queue, emulated delay included, to the acknowledgement."
    return core.HistogramMetricFamily("pame_node_round_trip_seconds", documentation, buckets, seconds)


def _refused(way: str, by: str, counts: Iterable[Counter[str]]) -> Metric:
    total = sum((Counter(dict(count)) for count in counts), Counter[str]())
    return family(f"pame_node_{way}_refused_messages_total", f"Refused, by reason. {by}", ["reason"], by_reason(total))


def _grouped(links: Mapping[int, T], named: frozenset[int]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for peer in sorted(links):
        groups.setdefault(str(peer) if peer in named else OTHERS, []).append(links[peer])
    return groups


def _links(groups: Mapping[str, Sequence[T]], figures: Figures[T]) -> Iterator[Metric]:
    for name, documentation, value in figures:
        samples: Samples = {(peer,): sum(value(link) or 0 for link in group) for peer, group in groups.items()}
        yield family(f"pame_link_{name}", documentation, ["peer"], samples)


def _sent_bytes(groups: Mapping[str, Sequence[OutCounters]]) -> Metric:
    samples: Samples = {}
    for peer, group in groups.items():
        by_kind = asdict(sum((link.sizes for link in group), Sizes()))
        by_kind["protobuf"] = sum(link.protobuf_bytes for link in group)
        samples |= {(peer, kind): by_kind[kind] for kind in KINDS}
    return family(
        "pame_link_sent_bytes_total",
        "Sent bytes by kind; protobuf each time.",
        ["peer", "kind"],
        samples,
    )
