"""What only a network has: faults that were met, round trips, what nodes cost, and what measuring cost."""

from orchestrator.number_words import NOT_MEASURED, duration, number, percent, volume
from orchestrator.report import page
from orchestrator.results.network_summary import NetworkSummary

TITLE = "The network"


def network_card(network: NetworkSummary | None) -> str:
    """The card; empty for a run without a network."""
    return "" if network is None else page.card(f"<h3>{TITLE}</h3>{page.pairs(_rows(network))}")


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
    ]
