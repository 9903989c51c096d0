"""The byte account: what the framing model says by kind, what the kernels counted, and what theory asks for."""

from collections.abc import Mapping, Sequence

from orchestrator.number_words import NOT_MEASURED, number, percent, volume
from orchestrator.report import page
from orchestrator.report.traffic import BITS
from orchestrator.results.files import finite, mapping, numbers
from orchestrator.results.read import Summary

TITLE = "Byte account"
NO_NETWORK = "not measured: no network was involved; payloads are in “Volume by kind”"
TERMS = {
    "values": "Values",
    "support": "Support",
    "stars": "Stars (★)",
    "framing": "Framing of the codec",
    "resent": "Sent again after a connection broke",
    "unreported": "Known only from receivers, of any kind",
    "protobuf": "Protobuf around the vectors",
    "grpc_http2": "gRPC and HTTP/2 around parcels",
    "receipts": "Receipts",
    "probes": "gRPC's path probes",
    "tls": "TLS records and handshakes",
    "tcp_ip": "TCP/IP headers",
    "acknowledgements": "Pure TCP acknowledgements",
    "connections": "Opening and closing connections",
}
HEADERS = (("What", False), ("Volume", True), ("Bits per message", True), ("Share", True))


def byte_account(summary: Summary) -> str:
    """The card; `not measured` where there was no network, or no end to count at."""
    wire = mapping(mapping(summary.facts.get("network")).get("wire"))
    model = numbers(wire.get("model"))
    if model.get("total") is None:
        return page.missing(TITLE, NO_NETWORK if summary.word("backend") == "simulate" else NOT_MEASURED)
    messages, total = finite(wire.get("messages")), model.get("total")
    rows = [_row(words, model.get(term), messages, total) for term, words in TERMS.items()]
    rows.append(_row("Total by the model", total, messages, total))
    rows.append(_row("Counted by ss (payload and headers)", finite(wire.get("counted")), messages, total))
    rows += [
        (name, "", number(None if bits is None else round(bits, 1)), "")
        for key, name in BITS.items()
        if key != "sent" and (bits := summary.message_bits.get(key)) is not None
    ]
    note = (
        f"All data connections, both directions, as the counters of a {wire.get('interface') or 'network'} interface "
        f"see them. {_sockets(wire)}"
    )
    table = page.listing(HEADERS, rows, long=False)
    return page.card(f"<h3>{TITLE}</h3>{page.note(note)}{table}")


def _row(words: str, size: float | None, messages: float | None, total: float | None) -> Sequence[str]:
    if size is None:
        return words, NOT_MEASURED, "", ""
    bits = number(round(8 * size / messages, 1)) if messages else ""
    return words, volume(size), bits, percent(size / total) if total else ""


def _sockets(wire: Mapping[str, object]) -> str:
    counts, ratios = numbers(wire.get("sockets")), numbers(wire.get("ratios"))
    if not counts:
        return "Packets and retransmissions: not measured, because no node had `ss`."
    packets = (counts.get("segments_out") or 0) + (counts.get("segments_in") or 0)
    seen, opened = counts.get("connections"), finite(wire.get("connections"))
    agreement = (
        f", {percent(ratios['total'])} of what the model says until then" if ratios.get("total") is not None else ""
    )
    lacking = "" if seen == opened else " Those that broke before the end are missing, so no total is given."
    return (
        f"ss counted {number(packets)} packets and {number(counts.get('retransmitted'))} retransmissions on "
        f"{number(seen)} of {number(opened)} connections before they were closed{agreement}.{lacking} "
        "connections.csv has them by link."
    )
