"""What went over the links: volume by kind and by link, bits per message, who was heard, and who waited."""

from collections.abc import Sequence

import numpy as np

from orchestrator.number_words import byte_unit, count, duration, number, percent, volume
from orchestrator.report.chart import Chart
from orchestrator.report.vega import Axis, Row, Spec, bars, binned, columns, histogram, matrix, words
from orchestrator.results.summary import MessageBits, MessageCounts, RunSummary, SentBytes
from orchestrator.results.tables import Floats, LinkTotals, Records

MATRIX_NODES = 64
COLUMN_NODES = 128
SENT, LATE, NOT_SENT = ROLES = ("sent", "of these, late", "not sent")


def message_rows(messages: MessageCounts) -> list[tuple[str, float | None]]:
    return [
        ("sent", messages.sent),
        ("averaged", messages.aggregated),
        ("late", messages.late),
        ("evicted (pushed out of a full mailbox)", messages.evicted),
        ("lost (dropped before sending)", messages.lost),
        ("starved rounds (nothing came)", messages.starved),
        ("gaps: updates missed, edges perhaps left out at one end alone", messages.desynchronised),
    ]


def bit_rows(bits: MessageBits) -> list[tuple[str, float | None]]:
    return [
        ("Sent in this run", bits.sent),
        ("Paper, 63 s + n", bits.paper),
        ("with a flag, 64 s + n", bits.flagged),
        ("Floor with the support sent, log₂C(n,s) + 64 s", bits.floor),
        ("Dense, 64 n", bits.dense),
    ]


def volume_by_kind(summary: RunSummary) -> Chart | None:
    """What the bytes carried, which of them came too late, and apart from them those that were never sent."""
    sent_bytes = summary.bytes
    parts = [
        ("Values", sent_bytes.values, SENT),
        ("Support", sent_bytes.support, SENT),
        ("Stars (★)", sent_bytes.stars, SENT),
        ("Framing", sent_bytes.framing, SENT),
        ("Late", sent_bytes.late, LATE),
        ("Lost", sent_bytes.lost, NOT_SENT),
        ("Unreported", sent_bytes.unreported, SENT),
        ("Queued", sent_bytes.queued, NOT_SENT),
        ("Dropped", sent_bytes.dropped, NOT_SENT),
    ]
    known = [(name, size, role) for name, size, role in parts if size]
    if not known:
        return None
    unit, size = byte_unit(max(sent for _, sent, _ in known))
    total = sent_bytes.total
    rows: list[Row] = [
        {
            "kind": name,
            "y": sent / size,
            "role": role,
            "label": volume(sent) + (f" · {percent(sent / total)}" if total and role != NOT_SENT else ""),
        }
        for name, sent, role in known
    ]
    color: Spec = {
        "field": "role", "type": "nominal", "title": None, "sort": None,
        "scale": {"domain": list(ROLES)}, "legend": {"symbolType": "square"},
    }  # fmt: skip
    spec = bars("kinds", "kind", "Kind", Axis("y", f"Volume ({unit})"), rows, color)
    return Chart("kinds", "Volume by kind", _kinds_note(sent_bytes), {"": spec}, {"kinds": rows})


def _kinds_note(sent_bytes: SentBytes) -> str:
    parts = [f"{volume(sent_bytes.total)} sent in total."]
    parts += ["Late messages are part of the total and were never averaged."] if sent_bytes.late else []
    parts += ["Lost messages were dropped before sending, so they are not part of it."] if sent_bytes.lost else []
    return " ".join(parts)


def bits_per_message(summary: RunSummary) -> Chart | None:
    """The mean message against the paper's formula, the entropy floor and a dense message."""
    known = [(name, bits) for name, bits in bit_rows(summary.message_bits) if bits is not None]
    if not known:
        return None
    rows: list[Row] = [{"what": name, "y": bits, "label": f"{number(round(bits, 1))} bits"} for name, bits in known]
    spec = bars("bits", "what", "Message", Axis("y", "Bits per message"), rows)
    sent, dense = summary.message_bits.sent, summary.message_bits.dense
    note = f"A message was {percent(sent / dense)} of a dense one." if sent is not None and dense else ""
    return Chart("bits", "Bits per message", note, {"": spec}, {"bits": rows})


def volume_by_link(links: LinkTotals) -> Chart:
    """Sender by receiver for small networks, else how the volume is distributed over links."""
    unit, size = byte_unit(float(links.bytes.max()))
    note = f"{count(links.sender.size, 'directed link')}; {volume(float(links.bytes.mean()))} on average."
    if links.nodes > MATRIX_NODES:
        spec = histogram("links", f"Volume of a link ({unit})", "links")
        return Chart("links", "Volume by link", note, {"": spec}, {"links": binned(links.bytes / size)})
    columns_of = (links.sender, links.receiver, links.bytes, links.messages, links.late, links.lost)
    rows: list[Row] = [
        {"sender": s, "receiver": r, "value": b / size, "label": volume(b), "messages": m, "late": late, "lost": lost}
        for s, r, b, m, late, lost in zip(*(column.tolist() for column in columns_of), strict=True)
    ]
    titles = {"label": "volume"}
    fields = ("sender", "receiver", "label", "messages", "late", "lost")
    tooltip = [words(field, titles.get(field, field)) for field in fields]
    spec = matrix("links", f"Volume ({unit})", tooltip)
    return Chart(
        "links", "Volume by link", f"{note} Empty cells are not links.", {"": spec}, {"links": rows}, shape="square"
    )


def participation(links: LinkTotals, nodes: int) -> Chart | None:
    nodes = max(nodes, links.nodes)
    heard = np.bincount(links.sender, links.aggregated, nodes)
    if heard.sum() == 0:
        return None
    share = 100 * heard / heard.sum()
    uniform = 100 / nodes
    least, most = percent(share.min() / 100), percent(share.max() / 100)
    note = (
        f"{number(float(heard.sum()))} messages were averaged; the least heard node sent {least} of them, the most "
        f"heard {most}. Dashed: the uniform share, {percent(1 / nodes)}."
    )
    return _per_node(
        "participation", "Participation", note, share, "Share of averaged messages (%)",
        [f"{value:.3g} % · {number(float(messages))} messages" for value, messages in zip(share, heard, strict=True)],
        uniform,
    )  # fmt: skip


def waiting(records: Records, seconds: float | None) -> Chart | None:
    if not records.has_clock:
        return None
    mean = float(records.waited_s.mean())
    share = f" ({percent(mean / seconds)} of the run)" if seconds else ""
    longest = duration(float(records.longest_wait_s.max()))
    note = (
        f"All waits of a node added up; the longest single one took {longest}. "
        f"Dashed: the mean, {duration(mean)}{share}."
    )
    labels = [
        f"{duration(float(total))} in {count(int(times), 'wait')}, longest {duration(float(most))}"
        for total, times, most in zip(records.waited_s, records.waits, records.longest_wait_s, strict=True)
    ]
    return _per_node("waiting", "Waiting time", note, records.waited_s, "Waited (s)", labels, mean)


def _per_node(key: str, title: str, note: str, values: Floats, axis: str, labels: Sequence[str], mean: float) -> Chart:
    if values.size > COLUMN_NODES:
        return Chart(key, title, note, {"": histogram(key, axis, "nodes", mean)}, {key: binned(values)})
    rows: list[Row] = [
        {"node": node, "y": float(value), "label": label}
        for node, (value, label) in enumerate(zip(values, labels, strict=True))
    ]
    spec = columns(key, Axis("y", axis, zero=True), [words("node", "node"), words("label", title)], mean)
    return Chart(key, title, note, {"": spec}, {key: rows})
