"""Everything that nodes count: the totals of a run, in the order of the table of counters."""

from contract.counters import SCOPES, CounterEntry, Total, totalled
from orchestrator.number_words import duration, number, volume
from orchestrator.report import page
from orchestrator.results.network_summary import NetworkSummary

TITLE = "Counters"
_HEADERS = (("Counted by", False), ("Counter", False), ("What", False), ("In all", True))
_SINCE = "sent"
"""A counter that summaries have since there is a table."""


def counter_card(network: NetworkSummary | None) -> str:
    """The card; empty for a run without a network, or of before there was a table."""
    totals = network.counters if network is not None else {}
    if totals.get(_SINCE) is None:
        return ""
    rows = [
        (f"each {scope}", entry.name, _words(entry), _shown(totals.get(entry.name), entry.unit))
        for counters, scope in SCOPES.items()
        for entry in totalled(counters)
    ]
    table = page.folded(f"All {len(rows)} counters", page.listing(_HEADERS, rows))
    return page.card(f"<h3>{TITLE}</h3>{table}")


def _words(entry: CounterEntry) -> str:
    return f"{entry.words} The largest." if entry.total is Total.LARGEST else entry.words


def _shown(total: float | None, unit: str) -> str:
    if unit == "bytes":
        return volume(total)
    return duration(total) if unit == "s" or total is None else f"{number(total)} {unit}"
