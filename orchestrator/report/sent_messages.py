"""What became of the messages that were given to the links, and how that adds up with the records."""

from orchestrator.number_words import number, volume
from orchestrator.report import page
from orchestrator.results.summary import RunSummary

TITLE = "From records to links"
HEADERS = (("What", False), ("Messages", True), ("Payload", True))


def sent_account(summary: RunSummary) -> str:
    """The card; empty for a run of before this was counted."""
    times, sizes = summary.messages, summary.bytes
    if times.recorded is None:
        return ""
    rows = [
        ("In the records, and in the curves", times.recorded, sizes.recorded),
        ("+ after the last record: cut off, or of a node that died", times.unrecorded, sizes.unrecorded),
        (
            "− unknown: on their way at the last record; their node died or their link broke",
            times.unknown,
            sizes.unknown,
        ),
        ("= sent: handed over for the first time", times.sent, sizes.total),
        ("(of these, known only from receivers: their sender died)", times.unreported, sizes.unreported),
        ("Queued: never handed over by the end", times.queued, sizes.queued),
        ("Dropped from a full queue, never sent", times.dropped, sizes.dropped),
        ("Lost on purpose, never sent", times.lost, sizes.lost),
        ("Sent again after a connection broke, apart from the sent", times.resent, sizes.resent),
    ]
    shown = [(words, number(messages), volume(size)) for words, messages, size in rows]
    return page.card(f"<h3>{TITLE}</h3>{page.listing(HEADERS, shown, long=False)}")


def transmitted(summary: RunSummary) -> tuple[str, str, str]:
    """The tile: payload, and what that was on the wire where there was one."""
    messages, total = summary.messages.sent, summary.bytes.total
    below = "payload" + (f", {number(messages)} messages" if messages is not None else "")
    wire = summary.network.wire if summary.network else None
    on_wire = wire.model.get("total") if wire else None
    if on_wire is not None:
        below += f"; {volume(on_wire)} on the wire"
    return "Transmitted", volume(total), below if total is not None else ""
