"""Dashboard "Transmission volume": what is sent, by whom, to whom, of what kind, and what of it was of no use."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.page import page
from deploy.grafana.panels import (
    BYTES,
    BYTES_PER_SECOND,
    COUNT,
    IN_RUN,
    PER_SECOND,
    SHARE,
    Query,
    Text,
    bars,
    heat,
    lines,
    matrix,
    number,
    two_scales,
)

_SAVED = ((0, "orange"), (0.25, "green"))
_WASTE = ((0.05, "orange"), (0.25, "red"))


def transmission_volume() -> Dashboard:
    return page(
        "Transmission volume",
        "What the nodes send to each other: how much, of what kind, on which link, and what of it was of no use.",
        {
            "This run": [
                number(
                    Text("Sent", "Bytes handed to gRPC by all nodes in this run: vectors and protobuf.", BYTES),
                    "sum(pame_run_sent_bytes_total) > 0",
                ),
                number(
                    Text("Sent per second", "The same per second, over the last 15 s.", BYTES_PER_SECOND),
                    "network:pame_link_sent_bytes:rate15s",
                ),
                number(
                    Text(
                        "Saved against dense",
                        "1 - sent / what the same messages would take as whole models of 64-bit numbers. Vectors only.",
                        SHARE,
                    ),
                    "network:pame_run_saved_dense:ratio",
                    _SAVED,
                    below="red",
                ),
                number(
                    Text(
                        "Saved against the paper",
                        "1 - sent / (63 s + n bits per message), the paper's formula. Vectors only. PaME runs only.",
                        SHARE,
                    ),
                    "network:pame_run_saved_paper:ratio",
                    ((-0.1, "orange"), (0, "green")),
                    below="red",
                ),
                number(
                    Text("Bytes to the objective", "Vectors sent to reach the current objective.", BYTES),
                    "pame_run_evaluated_bytes",
                ),
                number(
                    Text("Late share", "Of the bytes received in the last 15 s, those of late messages.", SHARE),
                    "network:pame_link_late_bytes:ratio_rate15s",
                    _WASTE,
                ),
            ],
            "Total and per second": [
                lines(
                    Text(
                        "Sent, and what it would have been",
                        "Vectors sent in this run; the same messages as whole models, and by the paper's formula.",
                        BYTES,
                    ),
                    Query('sum(pame_run_sent_bytes_total{kind!="protobuf"})', "sent"),
                    Query("sum(pame_run_dense_bytes_total)", "dense"),
                    Query("sum(pame_run_paper_bytes_total)", "the paper's formula"),
                ),
                two_scales(
                    Text(
                        "Objective and the bytes it took",
                        "f at the mean model (left) and the vectors sent until then (right).",
                        COUNT,
                    ),
                    Query("pame_run_objective", "objective"),
                    Query("pame_run_evaluated_bytes", "bytes"),
                    BYTES,
                ),
                lines(
                    Text(
                        "Sent per second, by kind",
                        "values: the numbers; support and stars: which they are; framing and protobuf: what is around.",
                        BYTES_PER_SECOND,
                    ),
                    Query("kind:pame_link_sent_bytes:rate15s", "{{kind}}"),
                    stacked=True,
                ),
                lines(
                    Text(
                        "Sent per second, by class",
                        "Payload: the values. Overhead: all that it takes to say which values they are.",
                        BYTES_PER_SECOND,
                    ),
                    Query("class:pame_link_sent_bytes:rate15s", "{{class}}"),
                    stacked=True,
                ),
            ],
            "By kind and node": [
                bars(
                    Text("Sent, by kind", "Bytes handed to gRPC by all nodes in this run.", BYTES),
                    Query("sum by (kind) (pame_run_sent_bytes_total)", "{{kind}}"),
                ),
                bars(
                    Text("Nodes that send most", "The ten nodes that send most per second now.", BYTES_PER_SECOND),
                    Query("topk(10, node:pame_link_sent_bytes:rate15s)", "node {{node}}"),
                ),
            ],
            "By link": [
                matrix(
                    Text(
                        "Sent by link",
                        "Bytes in this run from the node of the row to the node of the column. A node with more than "
                        "32 neighbours names the 32 smallest, and sums up the others.",
                        BYTES,
                    ),
                    f"sum by (node, peer) (pame_link_sent_bytes_total{IN_RUN})",
                    row="node",
                    column="peer",
                ),
                heat(
                    Text("Sent per second by sender", "A row for each node; the brighter, the more.", BYTES_PER_SECOND),
                    Query("node:pame_link_sent_bytes:rate15s", "node {{node}}"),
                ),
            ],
            "Late and wasted": [
                lines(
                    Text(
                        "Messages by fate",
                        "Aggregated: averaged by the receiver. Late, evicted and refused ones were sent in vain; lost "
                        "(on purpose) and dropped (from a full queue) ones were never sent.",
                        PER_SECOND,
                    ),
                    Query("fate:pame_link_messages:rate15s", "{{fate}}"),
                    stacked=True,
                ),
                lines(
                    Text(
                        "Bytes by fate",
                        "Received in time or late; lost on purpose before they were sent.",
                        BYTES_PER_SECOND,
                    ),
                    Query("fate:pame_link_bytes:rate15s", "{{fate}}"),
                    stacked=True,
                ),
                lines(
                    Text(
                        "Late and wasted share",
                        "Late: of the bytes received. Wasted: late, evicted or refused, of the messages that arrived.",
                        SHARE,
                    ),
                    Query("network:pame_link_late_bytes:ratio_rate15s", "late bytes"),
                    Query("network:pame_link_wasted_messages:ratio_rate15s", "wasted messages"),
                    limits=_WASTE,
                ),
                lines(
                    Text(
                        "Sent messages by class",
                        "Overtime: sent by nodes that had done all their iterations, for the sake of slower ones.",
                        PER_SECOND,
                    ),
                    Query("class:pame_link_sent_messages:rate15s", "{{class}}"),
                    stacked=True,
                ),
            ],
        },
    )
