"""The figures of a node for Prometheus: read from its account at every scrape (`metrics_server`).

    pame_link_*    by `peer`, the neighbour's index; all but the 32 smallest are summed as "others"
    pame_node_*    this node; Prometheus itself adds which one it is

Totals count from the beginning of the run; a new run begins at 0, which Prometheus takes for a restarted counter.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from operator import attrgetter
from typing import TypeVar

from prometheus_client import Metric, core

from contract.counters import ROUND_TRIP_BOUNDS_S, TABLE, Counters, InCounters, NodeCounters, OutCounters
from contract.ports.metric_families import NAMED, OTHERS, ProcessCollector, Samples, by_reason, family
from contract.run_name import run_name

C = TypeVar("C", bound=Counters)


class NodeCollector(ProcessCollector[NodeCounters]):
    whose = "node"

    def metrics(self, now: NodeCounters) -> Iterator[Metric]:
        # dict() is one C call: no other thread can change a dictionary in the middle of its copy. Here and below.
        out, into = dict(now.out), dict(now.into)
        named = frozenset(sorted(out.keys() | into.keys())[:NAMED])
        place = {} if now.index is None else {"run": run_name(now.run), "index": str(now.index)}
        yield core.InfoMetricFamily("pame_node", "The run of this node and its index in it.", value=place)
        yield from _counted("pame_node", NodeCounters, [], {(): [now]})
        share = now.averaged / now.wanted if now.wanted else None
        yield family("pame_node_participation_ratio", "Averaged messages per wanted one.", [], {(): share})
        yield _round_trips(list(out.values()))
        yield _refused("sent", "By the receiver.", [link.refused_by for link in out.values()])
        yield _refused("received", "By this node.", [now.refused_by, *(link.refused_by for link in into.values())])
        yield from _counted("pame_link", OutCounters, ["peer"], _grouped(out, named))
        yield from _counted("pame_link", InCounters, ["peer"], _grouped(into, named))


def _counted(
    prefix: str, table: type[Counters], labels: Sequence[str], groups: Mapping[tuple[str, ...], Sequence[Counters]]
) -> Iterator[Metric]:
    """The metrics of a part of the table, for groups of links or for a node."""
    for metric, found in groupby(TABLE[table], attrgetter("metric")):
        if metric:
            shared = list(found)
            kinds = ["kind"] if shared[0].kind else []
            samples: Samples = {
                (*group, *filter(None, [entry.kind])): entry.together([getattr(each, entry.name) for each in counters])
                for group, counters in groups.items()
                for entry in shared
            }
            words = " ".join(entry.words for entry in shared)
            yield family(f"{prefix}_{metric}", words, [*labels, *kinds], samples)


def _round_trips(links: Sequence[OutCounters]) -> Metric:
    nothing = [0] * (len(ROUND_TRIP_BOUNDS_S) + 1)
    counts = [sum(column) for column in zip(nothing, *(link.round_trip_buckets for link in links), strict=True)]
    seconds = sum(link.round_trips_s for link in links)
    buckets = list(zip([*map(str, ROUND_TRIP_BOUNDS_S), "+Inf"], accumulate(counts), strict=True))
    documentation = "From leaving the queue, emulated delay included, to the acknowledgement."
    return core.HistogramMetricFamily("pame_node_round_trip_seconds", documentation, buckets, seconds)


def _refused(way: str, by: str, counts: Iterable[Mapping[str, int]]) -> Metric:
    total = sum((Counter(dict(count)) for count in counts), Counter[str]())
    return family(f"pame_node_{way}_refused_messages_total", f"Refused, by reason. {by}", ["reason"], by_reason(total))


def _grouped(links: Mapping[int, C], named: frozenset[int]) -> dict[tuple[str, ...], list[C]]:
    groups: dict[tuple[str, ...], list[C]] = {}
    for peer in sorted(links):
        groups.setdefault((str(peer) if peer in named else OTHERS,), []).append(links[peer])
    return groups
