"""Dashboard "Robustness": who waits, what comes too late or not at all, and what is refused."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.page import page
from deploy.grafana.panels import COUNT, IN_RUN, PER_SECOND, SECONDS, SHARE, Query, Text, bars, lines, number

_ANY = ((1, "orange"), (100, "red"))
_STALE = ((1, "orange"), (10, "red"))
_WAITING = ((0.5, "orange"), (0.9, "red"))


def robustness() -> Dashboard:
    return page(
        "Robustness",
        "How the run stands what is done to it: waiting, late and missing messages, refusals, nodes that are gone.",
        {
            "Now": [
                number(
                    Text("Nodes attached", "Nodes with an open stream to the orchestrator.", COUNT),
                    "pame_orchestrator_alive_members",
                    ((1, "green"),),
                    below="red",
                ),
                number(
                    Text("Faults in force", "Now, with the slow nodes of the experiment.", COUNT),
                    "pame_run_active_faults",
                    ((1, "orange"),),
                ),
                number(
                    Text("Late messages", "In this run: came when no round could use them any more.", COUNT),
                    "pame_run_late_messages_total",
                    _ANY,
                ),
                number(
                    Text("Starved rounds", "In this run: rounds for which no message came.", COUNT),
                    "pame_run_starved_rounds_total",
                    _ANY,
                ),
                number(
                    Text("Refused messages", "In this run, by the nodes that are there now.", COUNT),
                    f"sum(pame_link_received_refused_messages_total{IN_RUN})"
                    f" + sum(pame_node_stranger_messages_total{IN_RUN})",
                    ((1, "red"),),
                ),
                number(
                    Text("Refused at the door", "Joins and TLS handshakes, since the processes began.", COUNT),
                    "(sum(pame_orchestrator_refused_joins_total) or vector(0))"
                    " + (sum(pame_node_refused_handshakes_total) or vector(0))"
                    " + (sum(pame_orchestrator_refused_handshakes_total) or vector(0))",
                    ((1, "red"),),
                ),
            ],
            "Waiting": [
                lines(
                    Text("Share of time spent waiting", "For neighbours, in the last 15 s.", SHARE),
                    Query("max(node:pame_node_wait_seconds:rate15s)", "largest node"),
                    Query("avg(node:pame_node_wait_seconds:rate15s)", "mean"),
                    Query("min(node:pame_node_wait_seconds:rate15s)", "smallest node"),
                    limits=_WAITING,
                ),
                lines(
                    Text("Waiting time of a round", "On average over all rounds of the last 15 s.", SECONDS),
                    Query("network:pame_node_wait_seconds:mean_rate15s", "wait"),
                ),
                bars(
                    Text("Nodes that wait most", "The ten nodes with the largest share of waiting time now.", SHARE),
                    Query("topk(10, node:pame_node_wait_seconds:rate15s)", "node {{node}}"),
                    limits=_WAITING,
                ),
                lines(
                    Text(
                        "Round trip of a message",
                        "From leaving the queue, emulated delay included, to the acknowledgement; quantiles by bucket.",
                        SECONDS,
                    ),
                    Query("histogram_quantile(0.5, le:pame_node_round_trip_seconds_bucket:rate15s)", "median"),
                    Query("histogram_quantile(0.9, le:pame_node_round_trip_seconds_bucket:rate15s)", "90 %"),
                    Query("histogram_quantile(0.99, le:pame_node_round_trip_seconds_bucket:rate15s)", "99 %"),
                ),
            ],
            "Late, starved, lost, stale": [
                lines(
                    Text("Messages of no use", "Per second, by what became of them.", PER_SECOND),
                    Query('fate:pame_link_messages:rate15s{fate!="aggregated"}', "{{fate}}"),
                ),
                lines(
                    Text(
                        "Rounds in trouble",
                        "Per second. Starved: no message came. Expired: patience ran out before all had come.",
                        PER_SECOND,
                    ),
                    Query("sum(rate(pame_node_starved_rounds_total[15s]))", "starved"),
                    Query("sum(rate(pame_node_expired_waits_total[15s]))", "expired"),
                ),
                bars(
                    Text("Nodes that starve most", "Starved rounds in this run, the ten largest.", COUNT),
                    Query(f"topk(10, sum by (node) (pame_node_starved_rounds_total{IN_RUN}))", "node {{node}}"),
                    limits=_ANY,
                ),
                lines(
                    Text(
                        "Suspects and open queues",
                        "Neighbours that a node does not wait for any more, and messages that wait to be sent.",
                        COUNT,
                    ),
                    Query(f"sum(pame_link_suspect_peers{IN_RUN})", "suspects"),
                    Query(f"sum(pame_link_queued_messages{IN_RUN})", "queued messages"),
                ),
                lines(
                    Text(
                        "Lost and late, and how old averages get",
                        "Messages lost on purpose and messages that came too late, per second. On the right: how many "
                        "iterations the messages of the nodes' last averages are behind them, on average.",
                        PER_SECOND,
                    ),
                    Query('fate:pame_link_messages:rate15s{fate=~"lost|late"}', "{{fate}}"),
                    right=(Query(f"avg(pame_node_staleness{IN_RUN})", "staleness"), COUNT),
                ),
                bars(
                    Text(
                        "Nodes with the oldest averages",
                        "How many iterations the messages of a node's last average are behind it, the ten largest.",
                        COUNT,
                    ),
                    Query(f"topk(10, sum by (node) (pame_node_staleness{IN_RUN}))", "node {{node}}"),
                    limits=_STALE,
                ),
            ],
            "Refused, and gone": [
                bars(
                    Text(
                        "Refused, by reason",
                        "Messages of this run; joins and TLS handshakes since the processes began. The sums over all "
                        "messages are there even if they are 0.",
                        COUNT,
                    ),
                    Query(
                        f"sum by (reason) (pame_node_received_refused_messages_total{IN_RUN})", "message: {{reason}}"
                    ),
                    Query("sum by (reason) (pame_orchestrator_refused_joins_total)", "join: {{reason}}"),
                    Query("sum by (reason) (pame_node_refused_handshakes_total)", "handshake with a node: {{reason}}"),
                    Query(
                        "sum by (reason) (pame_orchestrator_refused_handshakes_total)",
                        "handshake with the orchestrator: {{reason}}",
                    ),
                    Query(f"sum(pame_link_received_refused_messages_total{IN_RUN})", "all messages of neighbours"),
                    Query(f"sum(pame_node_stranger_messages_total{IN_RUN})", "all messages of strangers"),
                    Query(f"sum(pame_link_absurd_messages_total{IN_RUN})", "not refused, but absurd values"),
                    limits=((1, "red"),),
                ),
                lines(
                    Text("Nodes that died, left or came back", "In this run.", COUNT),
                    Query("sum by (what) (pame_run_disturbances_total)", "{{what}}"),
                ),
                lines(
                    Text("Nodes there", "Attached to the orchestrator, and answering to Prometheus.", COUNT),
                    Query("pame_orchestrator_alive_members", "attached"),
                    Query('sum(up{job="node"})', "scraped"),
                ),
                lines(
                    Text(
                        "Connections opened", "Per second, by all nodes; after the start only what broke.", PER_SECOND
                    ),
                    Query("sum(rate(pame_link_connects_total[15s]))", "connections"),
                ),
            ],
        },
    )
