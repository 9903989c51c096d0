"""Dashboard "Learning": how good the models are, how far apart, and how far the nodes have come."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.page import page
from deploy.grafana.panels import COUNT, IN_RUN, PER_SECOND, SHARE, Query, Text, bars, lines, number, word

_PARTICIPATION = ((0.5, "orange"), (0.9, "green"))


def learning() -> Dashboard:
    return page(
        "Learning",
        "What the nodes learn together: objective, agreement, and who has come how far.",
        {
            "Now": [
                word(
                    Text("Phase", "Gathering, preparing, verifying, running, ending; idle between runs.", COUNT),
                    Query("pame_run_phase == 1", "{{phase}}"),
                ),
                number(Text("Objective", "f at the mean of all models.", COUNT), "pame_run_objective"),
                number(
                    Text("Consensus distance", "Of the models from their mean, root mean square.", COUNT),
                    "pame_run_consensus_distance",
                ),
                number(
                    Text("Coverage", "Messages of a round that carry a coordinate, on average.", COUNT),
                    "pame_run_coverage",
                    ((0.5, "orange"), (1, "green")),
                    below="red",
                ),
                number(
                    Text("Participation share", "Averaged messages per wanted one, in the last 15 s.", SHARE),
                    "network:pame_node_participation:ratio_rate15s",
                    _PARTICIPATION,
                    below="red",
                ),
                number(
                    Text("Iteration spread", "How many iterations the slowest node is behind the fastest.", COUNT),
                    'sum(pame_run_iteration{position="fastest"}) - sum(pame_run_iteration{position="slowest"})',
                    ((20, "orange"), (100, "red")),
                ),
            ],
            "Models": [
                lines(
                    Text("Objective", "f at the mean of all models; f is the mean of the nodes' own.", COUNT),
                    Query("pame_run_objective", "objective"),
                    logarithmic=True,
                ),
                lines(
                    Text("Consensus distance", "Of the models from their mean, root mean square.", COUNT),
                    Query("pame_run_consensus_distance", "consensus distance"),
                    logarithmic=True,
                ),
            ],
            "Exchange": [
                lines(
                    Text(
                        "Coverage",
                        "Messages that carry a coordinate, on average: of the rounds between two evaluations, and of "
                        "the nodes' last rounds.",
                        COUNT,
                    ),
                    Query("pame_run_coverage", "evaluated"),
                    Query(f"min(pame_node_coverage{IN_RUN})", "smallest node"),
                    Query(f"max(pame_node_coverage{IN_RUN})", "largest node"),
                ),
                lines(
                    Text(
                        "Participation share",
                        "Averaged messages per wanted one: of all nodes in the last 15 s, and of the extreme nodes "
                        "since the beginning of the run.",
                        SHARE,
                    ),
                    Query("network:pame_node_participation:ratio_rate15s", "all, 15 s"),
                    Query(f"min(pame_node_participation_ratio{IN_RUN})", "smallest node"),
                    Query(f"max(pame_node_participation_ratio{IN_RUN})", "largest node"),
                ),
            ],
            "Progress": [
                lines(
                    Text("Iterations", "Where the slowest, the median and the fastest node are.", COUNT),
                    Query("pame_run_iteration", "{{position}}"),
                ),
                lines(
                    Text("Steps per second", "Of a node; the spread shows who is slow.", PER_SECOND),
                    Query("min(node:pame_node_steps:rate15s)", "slowest"),
                    Query("avg(node:pame_node_steps:rate15s)", "mean"),
                    Query("max(node:pame_node_steps:rate15s)", "fastest"),
                ),
                bars(
                    Text("Nodes that are behind", "The ten nodes with the lowest iteration.", COUNT),
                    Query(f"bottomk(10, sum by (node) (pame_node_iteration{IN_RUN}))", "node {{node}}"),
                ),
                lines(
                    Text(
                        "Iterations that overran",
                        "The share with more work than their nominal time; above 5 % a run says nothing about time.",
                        SHARE,
                    ),
                    Query("network:pame_node_overran_steps:ratio_rate15s", "overran"),
                    limits=((0.05, "red"),),
                ),
            ],
        },
    )
