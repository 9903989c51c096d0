"""Plans for people, and what they leave of the graph."""

import networkx as nx
import numpy as np
import pytest

from orchestrator.experiment.faults import active, kind_of, live_graph, words
from pame.fault_effects import CutEffect, FaultEvent, KillEffect, Window
from tests.orchestrator.experiment.faults.builders import GRAPHS, links_hit, networkx_graph, nodes_hit, plan_of


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{kind: link-down, links: 0-1}", "links 0→1, 1→0 down"),
        ("{kind: link-down, links: 0>1}", "link 0→1 down"),
        ("{kind: link-down, links: all}", "links 0→1, 0→8, 1→0, 1→2, 2→1, 2→3 and 12 more down"),
        ("{kind: partition, shape: isolate, nodes: [0]}", "partition isolate: 0 | 1 2 3 4 5 6 7 8"),
        (
            "{kind: degrade, links: 0>1, delay: 20ms, delay_factor: 2, jitter: 5ms, loss: 1%, rate: 10%}",
            "link 0→1: delay times 2, delay +20ms, jitter +5ms, 1% of the packets lost, rate times 0.1",
        ),
        ("{kind: lossy, links: 0>1, loss: 2.5%}", "link 0→1: 2.5% of the packets lost"),
        ("{kind: message-loss, links: 0>1, loss: 20%}", "link 0→1: 20% of the messages lost"),
        ("{kind: straggler, nodes: [2, 4], factor: 50}", "nodes 2, 4 50 times slower"),
        ("{kind: pause, nodes: [2]}", "node 2 paused"),
        ("{kind: kill, nodes: [2, 3]}", "nodes 2, 3 killed"),
        ("{kind: restart, nodes: [2]}", "node 2 restarted"),
        ("{kind: container-kill, nodes: [2, 3]}", "nodes 2, 3: container killed"),
        ("{kind: container-restart, nodes: [2]}", "node 2: container restarted"),
        ("{kind: cpu-quota, nodes: [2], cpu: 25%}", "node 2: 0.25 of a core"),
    ],
)
def test_an_event_is_described_in_a_few_words(entry: str, said: str) -> None:
    (event,) = plan_of(entry, graph="ring")
    assert words(event) == said
    assert kind_of(event) == entry.split("kind: ")[1].split(",")[0]


def test_an_event_is_active_from_its_beginning_up_to_its_end() -> None:
    plan = plan_of("{kind: pause, nodes: [1], at: 4s, for: 2s}", "{kind: message-loss, loss: 1%, at: {iteration: 5}}")
    assert [[event.number for event in active(plan, moment)] for moment in (3.9, 4.0, 5.9, 6.0)] == [[], [0], [0], []]
    assert [event.number for event in active(plan, 5, "iterations")] == [1]


def test_of_what_stops_a_node_at_an_iteration_only_the_beginning_is_known() -> None:
    plan = plan_of("{kind: pause, nodes: [1], at: {iteration: 5}, for: 2s}")
    assert [len(active(plan, k, "iterations")) for k in (4, 5, 6)] == [0, 1, 0]
    assert not active(plan, 5.0)


@pytest.mark.parametrize("graph", GRAPHS)
def test_without_faults_the_live_graph_is_the_topology(graph: str) -> None:
    live = live_graph(GRAPHS[graph], ())
    assert live.up == tuple(range(GRAPHS[graph].nodes))
    assert [list(edge) for edge in live.edges] == GRAPHS[graph].edges.tolist()
    assert live.components == 1
    assert live.spectral_gap == pytest.approx(_gap(networkx_graph(GRAPHS[graph])))


@pytest.mark.parametrize("seed", range(5))
def test_the_live_graph_is_what_networkx_leaves(seed: int) -> None:
    plan = plan_of(
        "{kind: link-down, links: random(20%)}",
        "{kind: kill, nodes: random(2)}",
        "{kind: pause, nodes: random(1)}",
        seed=seed,
    )
    live = live_graph(GRAPHS["regular"], active(plan, 1.0))
    expected = networkx_graph(GRAPHS["regular"])
    expected.remove_edges_from(links_hit(plan[0]))
    expected.remove_nodes_from([*nodes_hit(plan[1]), *nodes_hit(plan[2])])
    assert set(live.up) == set(expected.nodes)
    assert set(live.edges) == {tuple(sorted(edge)) for edge in expected.edges}
    assert live.components == nx.number_connected_components(expected)
    assert live.spectral_gap == pytest.approx(_gap(expected), abs=1e-12)


def test_a_link_that_is_cut_one_way_is_no_edge() -> None:
    live = live_graph(GRAPHS["pair"], [FaultEvent(0, "link-down", CutEffect(((1, 0),)), Window(0.0))])
    assert (live.edges, live.components, live.spectral_gap) == ((), 2, 0.0)


def test_a_graph_of_which_nobody_is_left_has_no_gap() -> None:
    live = live_graph(GRAPHS["pair"], [FaultEvent(0, "kill", KillEffect((0, 1)), Window(0.0))])
    assert (live.up, live.components, live.spectral_gap) == ((), 0, None)


def _gap(graph: nx.Graph) -> float:
    """1 - max(|lambda_2|, |lambda_m|) of the Metropolis matrix, from its definition."""
    names = sorted(graph.nodes)
    matrix = np.zeros((len(names), len(names)))
    for a, b in graph.edges:
        i, j = names.index(a), names.index(b)
        matrix[i, j] = matrix[j, i] = 1 / (1 + max(graph.degree[a], graph.degree[b]))
    matrix += np.diag(1 - matrix.sum(axis=1))
    values = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return float(1 - values[-2])
