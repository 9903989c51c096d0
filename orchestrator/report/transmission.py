"""What became of the messages that were given to the links, and what they took on the wire.

The byte account: what the framing model says by kind, beside what the kernels counted.
"""

from collections.abc import Sequence

from orchestrator.number_words import NOT_MEASURED, number, percent, volume
from orchestrator.report import page
from orchestrator.results.network_summary import WireSummary
from orchestrator.results.summary import MessageCounts, RunSummary

ACCOUNT = "Byte account"
NO_NETWORK = "not measured: no network was involved; payloads are in “Volume by kind”"
TERMS = {
    "values": "Values",
    "support": "Support",
    "stars": "Stars (★)",
    "framing": "Framing of the codec",
    "resent": "Sent again after a connection broke",
    "unreported": "Known only from receivers, of any kind",
    "protobuf": "Protobuf around the vectors",
    "grpc_http2": "gRPC and HTTP/2 around messages",
    "receipts": "Receipts",
    "probes": "gRPC's path probes",
    "tls": "TLS records and handshakes",
    "tcp_ip": "TCP/IP headers",
    "acknowledgements": "Pure TCP acknowledgements",
    "connections": "Opening and closing connections",
}
_MESSAGES = (("What", False), ("Messages", True), ("Payload", True))
_BYTES = (("What", False), ("Volume", True), ("Bits per message", True), ("Share", True))


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
    account = page.folded(_adds_up(times), page.listing(_MESSAGES, shown, long=False))
    return page.card(f"<h3>From records to links</h3>{account}")


def _adds_up(times: MessageCounts) -> str:
    """What a reader sees of the account before it is unfolded."""
    recorded, more, unknown, sent = map(number, (times.recorded, times.unrecorded, times.unknown, times.sent))
    return f"recorded {recorded} + unrecorded {more} = sent {sent} + unknown {unknown}"


def byte_account(summary: RunSummary) -> str:
    """The card; empty where there was no network, or no end to count at."""
    wire = summary.network.wire if summary.network else None
    total = wire.model.get("total") if wire else None
    if wire is None or total is None:
        return ""
    messages = wire.messages
    terms = [(words, wire.model.get(term)) for term, words in TERMS.items()]
    rows = [_row(words, size, messages, total) for words, size in terms if size != 0]
    rows.append(_row("Total by the model", total, messages, total))
    rows.append(_row("Counted by ss (payload and headers)", wire.counted, messages, total))
    note = (
        f"All data connections, both directions, as the counters of a {wire.interface or 'network'} interface "
        f"see them. {_sockets(wire)}"
    )
    table = page.listing(_BYTES, rows, long=False)
    return page.card(f"<h3>{ACCOUNT}</h3>{page.note(note)}{table}")


def why_no_account(summary: RunSummary) -> str:
    return NO_NETWORK if summary.is_simulated else NOT_MEASURED


def _row(words: str, size: float | None, messages: float | None, total: float | None) -> Sequence[str]:
    if size is None:
        return words, NOT_MEASURED, "", ""
    bits = number(round(8 * size / messages, 1)) if messages else ""
    return words, volume(size), bits, percent(size / total) if total else ""


def _sockets(wire: WireSummary) -> str:
    counts, share = wire.sockets, wire.ratios.total
    if counts is None:
        return "Packets and retransmissions: not measured, because no node had `ss`."
    agreement = f", {percent(share)} of what the model says until then" if share is not None else ""
    is_whole = counts.connections == wire.connections
    lacking = "" if is_whole else " Those that broke before the end are missing, so no total is given."
    return (
        f"ss counted {number(counts.segments_out + counts.segments_in)} packets and {number(counts.retransmitted)} "
        f"retransmissions on {number(counts.connections)} of {number(wire.connections)} connections before they were "
        f"closed{agreement}.{lacking} connections.csv has them by link."
    )
