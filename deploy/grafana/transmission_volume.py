"""Dashboard "Transmission volume": what is sent, by whom, to whom, of what kind, and what of it was of no use."""

from deploy.grafana.page import page
from deploy.grafana.panels import (
    BYTES,
    BYTES_PER_SECOND,
    IN_RUN,
    PER_SECOND,
    SHARE,
    Query,
    Rows,
    bars,
    heat,
    lines,
    matrix,
    number,
    two_scales,
)

_WASTE = ((0.05, "orange"), (0.25, "red"))

ROWS: Rows = {
    "This run": {
        "Sent": number(
            "Bytes handed to gRPC by all nodes in this run: vectors and protobuf.",
            "sum(pame_run_sent_bytes_total) > 0",
            unit=BYTES,
        ),
        "Sent per second": number(
            "The same per second, over the last 15 s.", "network:pame_link_sent_bytes:rate15s", unit=BYTES_PER_SECOND
        ),
        "Saved against dense": number(
            "1 - sent / what the same messages would take as whole models of 64-bit numbers. Vectors only.",
            "network:pame_run_saved_dense:ratio",
            ((0, "orange"), (0.25, "green")),
            below="red",
            unit=SHARE,
        ),
        "Saved against the paper": number(
            "1 - sent / (63 s + n bits per message), the paper's formula. Vectors only. PaME runs only.",
            "network:pame_run_saved_paper:ratio",
            ((-0.1, "orange"), (0, "green")),
            below="red",
            unit=SHARE,
        ),
        "Bytes to the objective": number(
            "Vectors sent to reach the current objective.", "pame_run_evaluated_bytes", unit=BYTES
        ),
        "Late share": number(
            "Of the bytes received in the last 15 s, those of late messages.",
            "network:pame_link_late_bytes:ratio_rate15s",
            _WASTE,
            unit=SHARE,
        ),
    },
    "Total and per second": {
        "Sent, and what it would have been": lines(
            "Vectors sent in this run; the same messages as whole models, and by the paper's formula.",
            Query('sum(pame_run_sent_bytes_total{kind!="protobuf"})', "sent"),
            Query("sum(pame_run_dense_bytes_total)", "dense"),
            Query("sum(pame_run_paper_bytes_total)", "the paper's formula"),
            unit=BYTES,
        ),
        "Objective and the bytes it took": two_scales(
            "f at the mean model (left) and the vectors sent until then (right).",
            Query("pame_run_objective", "objective"),
            Query("pame_run_evaluated_bytes", "bytes"),
            BYTES,
        ),
        "Sent per second, by kind": lines(
            "values: the numbers; support and stars: which they are; framing and protobuf: what is around.",
            Query("kind:pame_link_sent_bytes:rate15s", "{{kind}}"),
            stacked=True,
            unit=BYTES_PER_SECOND,
        ),
        "Sent per second, by class": lines(
            "Payload: the values. Overhead: all that it takes to say which values they are.",
            Query("class:pame_link_sent_bytes:rate15s", "{{class}}"),
            stacked=True,
            unit=BYTES_PER_SECOND,
        ),
    },
    "By kind and node": {
        "Sent, by kind": bars(
            "Bytes handed to gRPC by all nodes in this run.",
            Query("sum by (kind) (pame_run_sent_bytes_total)", "{{kind}}"),
            unit=BYTES,
        ),
        "Nodes that send most": bars(
            "The ten nodes that send most per second now.",
            Query("topk(10, node:pame_link_sent_bytes:rate15s)", "node {{node}}"),
            unit=BYTES_PER_SECOND,
        ),
    },
    "By link": {
        "Sent by link": matrix(
            "Bytes in this run from the node of the row to the node of the column. A node with more than "
            "32 neighbours names the 32 smallest, and sums up the others.",
            f"sum by (node, peer) (pame_link_sent_bytes_total{IN_RUN})",
            row="node",
            column="peer",
            unit=BYTES,
        ),
        "Sent per second by sender": heat(
            "A row for each node; the brighter, the more.",
            Query("node:pame_link_sent_bytes:rate15s", "node {{node}}"),
            unit=BYTES_PER_SECOND,
        ),
    },
    "Late and wasted": {
        "Messages by fate": lines(
            "Aggregated: averaged by the receiver. Late, evicted and refused ones were sent in vain; lost "
            "(on purpose) and dropped (from a full queue) ones were never sent.",
            Query("fate:pame_link_messages:rate15s", "{{fate}}"),
            stacked=True,
            unit=PER_SECOND,
        ),
        "Bytes by fate": lines(
            "Received in time or late; lost on purpose before they were sent.",
            Query("fate:pame_link_bytes:rate15s", "{{fate}}"),
            stacked=True,
            unit=BYTES_PER_SECOND,
        ),
        "Late and wasted share": lines(
            "Late: of the bytes received. Wasted: late, evicted or refused, of the messages that arrived.",
            Query("network:pame_link_late_bytes:ratio_rate15s", "late bytes"),
            Query("network:pame_link_wasted_messages:ratio_rate15s", "wasted messages"),
            limits=_WASTE,
            unit=SHARE,
        ),
        "Sent messages by class": lines(
            "Overtime: sent by nodes that had done all their iterations, for the sake of slower ones.",
            Query("class:pame_link_sent_messages:rate15s", "{{class}}"),
            stacked=True,
            unit=PER_SECOND,
        ),
    },
}
TRANSMISSION_VOLUME = page(
    "Transmission volume",
    "What the nodes send to each other: how much, of what kind, on which link, and what of it was of no use.",
    ROWS,
)
