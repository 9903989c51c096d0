"""What only a network has: faults that were met, round trips, what nodes cost, what measuring cost; all counters."""

from collections.abc import Mapping

from contract.counters import SCOPES, CounterEntry, Total, totalled
from orchestrator.number_words import NOT_MEASURED, duration, number, percent, volume
from orchestrator.report import page
from orchestrator.results.network_summary import NetworkSummary

_COUNTERS = (("Counted by", False), ("Counter", False), ("What", False), ("In all", True))
_SINCE = "sent"
"""A counter that summaries have since there is a table of counters."""


def network_card(network: NetworkSummary | None) -> str:
    """The card; empty for a run without a network."""
    return "" if network is None else page.card(f"<h3>The network</h3>{page.pairs(_rows(network))}")


def cpu_bound(network: NetworkSummary | None) -> str | None:
    """A sentence if too many iterations had more work than fits into their time, so that times prove nothing."""
    if network is None or not network.cpu_bound:
        return None
    return (
        f"cpu-bound: the work of {percent(network.overran_share or 0.0)} of the iterations did not fit into "
        "compute.step. This machine was too busy for a verdict about time: use fewer nodes or a longer step."
    )


def no_tls(network: NetworkSummary | None) -> str | None:
    """A sentence if the experiment itself switched TLS off."""
    if network is None or not network.tls_switched_off:
        return None
    return (
        "TLS was switched off (security: {tls: false}): neighbours talked in the clear, and anybody on the data "
        "network could listen in or join. Good for a benchmark, for nothing else."
    )


def _rows(network: NetworkSummary) -> list[tuple[str, str]]:
    counters, cost, overran = network.counters, network.evaluation, network.overran_share
    met = [
        ("waits that ran out of patience", ("expired",)),
        ("dropped from a full queue · evicted from a full mailbox", ("dropped", "evicted")),
        ("refused from neighbours · from strangers", ("refused", "strangers")),
        ("with values beyond the problem's scale", ("absurd",)),
        ("connections opened · receipts", ("connects", "receipts")),
    ]
    gone = (network.deaths, network.restarts, network.departures)
    trips = [duration(counters.get(key)) for key in ("round_trip_s", "longest_round_trip_s")]
    return [
        ("between neighbours", "mutual TLS" if network.tls else "no TLS" if network.tls is False else NOT_MEASURED),
        ("died · restarted · said good-bye", " · ".join(map(number, gone))),
        *((words, " · ".join(number(counters.get(key)) for key in keys)) for words, keys in met),
        ("suspect at the end", ", ".join(map(str, network.suspects)) or "nobody"),
        ("acknowledged round trip, mean · longest", " · ".join(trips)),
        ("iterations that overran compute.step", "no nominal time given" if overran is None else percent(overran)),
        ("CPU time of all nodes", duration(counters.get("cpu_s"))),
        ("largest node, resident", volume(counters.get("resident_bytes"))),
        (
            "evaluation: CPU here · snapshots received",
            f"{duration(cost.cpu_s)} · {volume(cost.bytes)}" if cost else NOT_MEASURED,
        ),
        ("snapshots: CPU at the nodes", duration(counters.get("snapshot_cpu_s"))),
        *_delivered(counters),
    ]


def _delivered(counters: Mapping[str, float | None]) -> list[tuple[str, str]]:
    """Of a problem with a data set."""
    if "delivered_bytes" not in counters:
        return []
    told = f"{volume(counters['delivered_bytes'])} · {number(counters.get('delivered_nodes'))}"
    return [("samples sent to nodes without the data set: bytes · nodes", told)]


def counter_card(network: NetworkSummary | None) -> str:
    """The totals of a run, in the order of the table; empty for a run without a network, or of before there was one."""
    totals = network.counters if network is not None else {}
    if totals.get(_SINCE) is None:
        return ""
    rows = [
        (f"each {scope}", entry.name, _words(entry), _shown(totals.get(entry.name), entry.unit))
        for counters, scope in SCOPES.items()
        for entry in totalled(counters)
    ]
    table = page.folded(f"All {len(rows)} counters", page.listing(_COUNTERS, rows))
    return page.card(f"<h3>Counters</h3>{table}")


def _words(entry: CounterEntry) -> str:
    return f"{entry.words} The largest." if entry.total is Total.LARGEST else entry.words


def _shown(total: float | None, unit: str) -> str:
    if unit == "bytes":
        return volume(total)
    return duration(total) if unit == "s" or total is None else f"{number(total)} {unit}"
