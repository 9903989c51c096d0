"""Dashboard "Learning": how good the models are, how far apart, and how far the nodes have come."""

from deploy.grafana.page import page
from deploy.grafana.panels import IN_RUN, PER_SECOND, SHARE, Query, Rows, bars, lines, number, word

ROWS: Rows = {
    "Now": {
        "Phase": word(
            "Gathering, preparing, verifying, running, ending; idle between runs.",
            Query("pame_run_phase == 1", "{{phase}}"),
        ),
        "Objective": number("f at the mean of all models.", "pame_run_objective"),
        "Consensus distance": number("Of the models from their mean, root mean square.", "pame_run_consensus_distance"),
        "Coverage": number(
            "Messages of a round that carry a coordinate, on average.",
            "pame_run_coverage",
            ((0.5, "orange"), (1, "green")),
            below="red",
        ),
        "Participation share": number(
            "Averaged messages per wanted one, in the last 15 s.",
            "network:pame_node_participation:ratio_rate15s",
            ((0.5, "orange"), (0.9, "green")),
            below="red",
            unit=SHARE,
        ),
        "Iteration spread": number(
            "How many iterations the slowest node is behind the fastest.",
            'sum(pame_run_iteration{position="fastest"}) - sum(pame_run_iteration{position="slowest"})',
            ((20, "orange"), (100, "red")),
        ),
    },
    "Models": {
        "Objective": lines(
            "f at the mean of all models; f is the mean of the nodes' own.",
            Query("pame_run_objective", "objective"),
            logarithmic=True,
        ),
        "Consensus distance": lines(
            "Of the models from their mean, root mean square.",
            Query("pame_run_consensus_distance", "consensus distance"),
            logarithmic=True,
        ),
    },
    "Exchange": {
        "Coverage": lines(
            "Messages that carry a coordinate, on average: of the rounds between two evaluations, and of "
            "the nodes' last rounds.",
            Query("pame_run_coverage", "evaluated"),
            Query(f"min(pame_node_coverage{IN_RUN})", "smallest node"),
            Query(f"max(pame_node_coverage{IN_RUN})", "largest node"),
        ),
        "Participation share": lines(
            "Averaged messages per wanted one: of all nodes in the last 15 s, and of the extreme nodes "
            "since the beginning of the run.",
            Query("network:pame_node_participation:ratio_rate15s", "all, 15 s"),
            Query(f"min(pame_node_participation_ratio{IN_RUN})", "smallest node"),
            Query(f"max(pame_node_participation_ratio{IN_RUN})", "largest node"),
            unit=SHARE,
        ),
    },
    "Progress": {
        "Iterations": lines(
            "Where the slowest, the median and the fastest node are.", Query("pame_run_iteration", "{{position}}")
        ),
        "Steps per second": lines(
            "Of a node; the spread shows who is slow.",
            Query("min(node:pame_node_steps:rate15s)", "slowest"),
            Query("avg(node:pame_node_steps:rate15s)", "mean"),
            Query("max(node:pame_node_steps:rate15s)", "fastest"),
            unit=PER_SECOND,
        ),
        "Nodes that are behind": bars(
            "The ten nodes with the lowest iteration.",
            Query(f"bottomk(10, sum by (node) (pame_node_iteration{IN_RUN}))", "node {{node}}"),
        ),
        "Iterations that overran": lines(
            "The share with more work than their nominal time; above 5 % a run says nothing about time.",
            Query("network:pame_node_overran_steps:ratio_rate15s", "overran"),
            limits=((0.05, "red"),),
            unit=SHARE,
        ),
    },
}
LEARNING = page("Learning", "What the nodes learn together: objective, agreement, and who has come how far.", ROWS)
