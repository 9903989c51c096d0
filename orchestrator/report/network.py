"""What only a network has: faults that were met, round trips, what nodes cost, and what measuring cost."""

from collections.abc import Mapping

from orchestrator.number_words import NOT_MEASURED, duration, number, percent, volume
from orchestrator.report import page
from orchestrator.results.files import finite, mapping
from orchestrator.results.read import Summary

TITLE = "The network"


def network_card(summary: Summary) -> str:
    """The card; empty for a run without a network."""
    facts = mapping(summary.facts.get("network"))
    if not facts:
        return ""
    return page.card(f"<h3>{TITLE}</h3>{page.pairs(_rows(facts))}")


def cpu_bound(summary: Summary) -> str | None:
    """A sentence if too many iterations had more work than fits into their time, so that times prove nothing."""
    facts = mapping(summary.facts.get("network"))
    if not facts.get("cpu_bound"):
        return None
    share = percent(finite(facts.get("overran_share")) or 0.0)
    return (
        f"cpu-bound: the work of {share} of the iterations did not fit into compute.step. This machine was too busy "
        "for a verdict about time: use fewer nodes or a longer step."
    )


def no_tls(summary: Summary) -> str | None:
    """A sentence if the experiment itself switched TLS off."""
    if not mapping(summary.facts.get("network")).get("tls_switched_off"):
        return None
    return (
        "TLS was switched off (security: {tls: false}): neighbours talked in the clear, and anybody on the data "
        "network could listen in or join. Good for a benchmark, for nothing else."
    )


def _rows(facts: Mapping[str, object]) -> list[tuple[str, str]]:
    evaluation = mapping(facts.get("evaluation"))
    counts = [
        ("died · restarted · said good-bye", ("deaths", "restarts", "departures")),
        ("waits that ran out of patience", ("expired",)),
        ("dropped from a full queue · evicted from a full mailbox", ("dropped", "evicted")),
        ("refused from neighbours · from strangers", ("refused", "strangers")),
        ("with values beyond the problem's scale", ("absurd",)),
        ("connections opened · receipts", ("connects", "receipts")),
    ]
    tls = facts.get("tls")
    suspects = facts.get("suspects")
    overran = finite(facts.get("overran_share"))
    trips = [duration(finite(facts.get(key))) for key in ("round_trip_s", "longest_round_trip_s")]
    return [
        ("between neighbours", "mutual TLS" if tls else "no TLS" if tls is False else NOT_MEASURED),
        *((words, " · ".join(number(finite(facts.get(key))) for key in keys)) for words, keys in counts),
        ("suspect at the end", ", ".join(map(str, suspects)) if isinstance(suspects, list) and suspects else "nobody"),
        ("acknowledged round trip, mean · longest", " · ".join(trips)),
        ("iterations that overran compute.step", "no nominal time given" if overran is None else percent(overran)),
        ("CPU time of all nodes", duration(finite(facts.get("cpu_s")))),
        ("largest node, resident", volume(finite(facts.get("resident_bytes")))),
        (
            "evaluation: CPU here · snapshots received",
            f"{duration(finite(evaluation.get('cpu_s')))} · {volume(finite(evaluation.get('bytes')))}"
            if evaluation
            else NOT_MEASURED,
        ),
        ("snapshots: CPU at the nodes", duration(finite(facts.get("snapshot_cpu_s")))),
    ]
