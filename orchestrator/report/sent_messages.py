"""What became of the messages that were given to the links, and how that adds up with the records."""

from orchestrator.number_words import number, volume
from orchestrator.report import page
from orchestrator.results.files import mapping, numbers
from orchestrator.results.read import Summary

TITLE = "From records to links"
ROWS = {
    "recorded": "In the records, and in the curves",
    "unrecorded": "+ after the last record: cut off, or of a node that died",
    "unknown": "− unknown: on their way at the last record; their node died or their link broke",
    "sent": "= sent: handed over for the first time",
    "unreported": "(of these, known only from receivers: their sender died)",
    "queued": "Queued: never handed over by the end",
    "dropped": "Dropped from a full queue, never sent",
    "lost": "Lost on purpose, never sent",
    "resent": "Sent again after a connection broke, apart from the sent",
}
HEADERS = (("What", False), ("Messages", True), ("Payload", True))


def sent_account(summary: Summary) -> str:
    """The card; empty for a run of before this was counted."""
    if summary.messages.get("recorded") is None:
        return ""
    sizes = {**summary.bytes, "sent": summary.bytes.get("total")}
    rows = [(words, number(summary.messages.get(key)), volume(sizes.get(key))) for key, words in ROWS.items()]
    return page.card(f"<h3>{TITLE}</h3>{page.listing(HEADERS, rows, long=False)}")


def transmitted(summary: Summary) -> tuple[str, str, str]:
    """The tile: payload, and what that was on the wire where there was one."""
    messages = summary.messages.get("sent")
    below = "payload" + (f", {number(messages)} messages" if messages is not None else "")
    on_wire = wire_bytes(summary)
    if on_wire is not None:
        below += f"; {volume(on_wire)} on the wire"
    total = summary.bytes.get("total")
    return "Transmitted", volume(total), below if total is not None else ""


def wire_bytes(summary: Summary) -> float | None:
    """By the framing model; None without a network."""
    wire = mapping(mapping(summary.facts.get("network")).get("wire"))
    return numbers(wire.get("model")).get("total")
