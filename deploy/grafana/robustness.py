"""Dashboard "Robustness": who waits, what comes too late or not at all, and what is refused."""

from deploy.grafana.page import page
from deploy.grafana.panels import COUNT, IN_RUN, PER_SECOND, SECONDS, SHARE, Query, Rows, bars, lines, number

_ANY = ((1, "orange"), (100, "red"))
_WAITING = ((0.5, "orange"), (0.9, "red"))

ROWS: Rows = {
    "Now": {
        "Nodes attached": number(
            "Nodes with an open stream to the orchestrator.",
            "pame_orchestrator_alive_members",
            ((1, "green"),),
            below="red",
        ),
        "Faults in force": number(
            "Now, with the slow nodes of the experiment.", "pame_run_active_faults", ((1, "orange"),)
        ),
        "Late messages": number(
            "In this run: came when no round could use them any more.", "pame_run_late_messages_total", _ANY
        ),
        "Starved rounds": number(
            "In this run: rounds for which no message came.", "pame_run_starved_rounds_total", _ANY
        ),
        "Refused messages": number(
            "In this run, by the nodes that are there now.",
            f"sum(pame_link_received_refused_messages_total{IN_RUN}) + sum(pame_node_stranger_messages_total{IN_RUN})",
            ((1, "red"),),
        ),
        "Refused at the door": number(
            "Joins and TLS handshakes, since the processes began.",
            "(sum(pame_orchestrator_refused_joins_total) or vector(0))"
            " + (sum(pame_node_refused_handshakes_total) or vector(0))"
            " + (sum(pame_orchestrator_refused_handshakes_total) or vector(0))",
            ((1, "red"),),
        ),
    },
    "Waiting": {
        "Share of time spent waiting": lines(
            "For neighbours, in the last 15 s.",
            Query("max(node:pame_node_wait_seconds:rate15s)", "largest node"),
            Query("avg(node:pame_node_wait_seconds:rate15s)", "mean"),
            Query("min(node:pame_node_wait_seconds:rate15s)", "smallest node"),
            limits=_WAITING,
            unit=SHARE,
        ),
        "Waiting time of a round": lines(
            "On average over all rounds of the last 15 s.",
            Query("network:pame_node_wait_seconds:mean_rate15s", "wait"),
            unit=SECONDS,
        ),
        "Nodes that wait most": bars(
            "The ten nodes with the largest share of waiting time now.",
            Query("topk(10, node:pame_node_wait_seconds:rate15s)", "node {{node}}"),
            limits=_WAITING,
            unit=SHARE,
        ),
        "Round trip of a message": lines(
            "From leaving the queue, emulated delay included, to the acknowledgement; quantiles by bucket.",
            Query("histogram_quantile(0.5, le:pame_node_round_trip_seconds_bucket:rate15s)", "median"),
            Query("histogram_quantile(0.9, le:pame_node_round_trip_seconds_bucket:rate15s)", "90 %"),
            Query("histogram_quantile(0.99, le:pame_node_round_trip_seconds_bucket:rate15s)", "99 %"),
            unit=SECONDS,
        ),
    },
    "Late, starved, lost, stale": {
        "Messages of no use": lines(
            "Per second, by what became of them.",
            Query('fate:pame_link_messages:rate15s{fate!="aggregated"}', "{{fate}}"),
            unit=PER_SECOND,
        ),
        "Rounds in trouble": lines(
            "Per second. Starved: no message came. Expired: patience ran out before all had come.",
            Query("sum(rate(pame_node_starved_rounds_total[15s]))", "starved"),
            Query("sum(rate(pame_node_expired_waits_total[15s]))", "expired"),
            unit=PER_SECOND,
        ),
        "Nodes that starve most": bars(
            "Starved rounds in this run, the ten largest.",
            Query(f"topk(10, sum by (node) (pame_node_starved_rounds_total{IN_RUN}))", "node {{node}}"),
            limits=_ANY,
        ),
        "Suspects and open queues": lines(
            "Neighbours that a node does not wait for any more, and messages that wait to be sent.",
            Query(f"sum(pame_link_suspect_peers{IN_RUN})", "suspects"),
            Query(f"sum(pame_link_queued_messages{IN_RUN})", "queued messages"),
        ),
        "Lost and late, and how old averages get": lines(
            "Messages lost on purpose and messages that came too late, per second. On the right: how many "
            "iterations the messages of the nodes' last averages are behind them, on average.",
            Query('fate:pame_link_messages:rate15s{fate=~"lost|late"}', "{{fate}}"),
            right=(Query(f"avg(pame_node_staleness{IN_RUN})", "staleness"), COUNT),
            unit=PER_SECOND,
        ),
        "Nodes with the oldest averages": bars(
            "How many iterations the messages of a node's last average are behind it, the ten largest.",
            Query(f"topk(10, sum by (node) (pame_node_staleness{IN_RUN}))", "node {{node}}"),
            limits=((1, "orange"), (10, "red")),
        ),
    },
    "Refused, and gone": {
        "Refused, by reason": bars(
            "Messages of this run; joins and TLS handshakes since the processes began. The sums over all "
            "messages are there even if they are 0.",
            Query(f"sum by (reason) (pame_node_received_refused_messages_total{IN_RUN})", "message: {{reason}}"),
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
        "Nodes that died, left or came back": lines(
            "In this run.", Query("sum by (what) (pame_run_disturbances_total)", "{{what}}")
        ),
        "Nodes there": lines(
            "Attached to the orchestrator, and answering to Prometheus.",
            Query("pame_orchestrator_alive_members", "attached"),
            Query('sum(up{job="node"})', "scraped"),
        ),
        "Connections opened": lines(
            "Per second, by all nodes; after the start only what broke.",
            Query("sum(rate(pame_link_connects_total[15s]))", "connections"),
            unit=PER_SECOND,
        ),
    },
}
ROBUSTNESS = page(
    "Robustness",
    "How the run stands what is done to it: waiting, late and missing messages, refusals, nodes that are gone.",
    ROWS,
)
