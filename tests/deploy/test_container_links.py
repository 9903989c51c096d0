"""Links and faults of an experiment in containers: the nodes shape themselves, and every run ends healed.

One project for all of it. This machine's kernel does what it can (htb, nft, perhaps netem), the processes the rest.
"""

import json
import re
from collections.abc import Iterator

import pytest

from tests.deploy.harness import BASE_FILE, Container, Project, docker, project

pytestmark = [pytest.mark.requires("docker"), pytest.mark.xdist_group("containers"), pytest.mark.timeout(240)]

NODES = 4
SMALL = (
    "experiments/quickstart.yaml", "--set", f"nodes={NODES}", "--set", "topology={kind: complete}",
    "--set", "compute={step: 20ms}", "--set", "exchange.patience=500ms",
)  # fmt: skip
LINKS = "{rate: 20mbit, delay: 5ms, pairs: {0>1: {rate: 5mbit}, 1-2: {loss: 1%}}}"
FAULTS = """[
  {kind: link-down, links: ["0-1"], at: 500ms, for: 1s},
  {kind: pause, nodes: [2], at: 700ms},
  {kind: kill, nodes: [3], at: 900ms},
]"""
"""Two of them have no end of their own: it is that of the run."""
LEASE_S = 10


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Four nodes that wait for a run, and for an orchestrator that is gone not as long as usual."""
    patient = BASE_FILE.read_text()
    assert "--patience=600" in patient
    command = re.search(r"command:\n((?:      - --.*\n)+)", patient[patient.index("\n  node:") :])
    assert command is not None
    hasty = command[1].replace("--patience=600", f"--patience={LEASE_S}")
    overlay = tmp_path_factory.mktemp("overlay") / "hasty.yml"
    overlay.write_text(f"services:\n  node:\n    command:\n{hasty}")
    with project(overlay, PAME_NODES="99") as made:  # no run begins by itself
        made.up(NODES)
        made.wait("the nodes have joined", lambda: len(made.members()) == NODES, 90)
        yield made


def shaping(network: Project, node: Container) -> str:
    """What the kernel does to its packets; nothing while it cannot be asked."""
    words = "tc qdisc show && nft list ruleset && echo asked"
    return network.execute(node, "sh", "-c", words, check=False)


def is_unshaped(network: Project, node: Container) -> bool:
    said = shaping(network, node)
    return "asked" in said and "htb" not in said and "table ip pame" not in said


def test_nodes_shape_themselves_and_a_run_ends_healed(network: Project) -> None:
    running = network.pame_run(
        *SMALL, "--set", "stop.iterations=120", "--set", f"links={LINKS}", "--set", f"faults={FAULTS}"
    )
    output, errors = running.communicate(timeout=150)
    assert running.returncode == 0, errors

    happened = network.events()
    cuts = [event for event in happened if event["what"].startswith("fault") and event["detail"] == "link-down"]
    assert {(event["what"], event["node"]) for event in cuts} == {
        ("fault begins", 0), ("fault begins", 1), ("fault ends", 0), ("fault ends", 1),
    }  # fmt: skip
    for event in cuts:
        assert event["mechanism"] in ("nft", "netem")
        assert event["seconds"] >= event["planned"]
        assert event["took"] > 0
        mine = f"{event['node']}>{1 - event['node']}"
        cut = [row["held"] for row in event["held"] if (row["link"], row["property"]) == (mine, "cut")]
        assert cut == [1.0] * (event["what"] == "fault begins")
    struck = {event["detail"]: event for event in happened if event.get("mechanism") == "supervisor"}
    assert {(kind, event["node"]) for kind, event in struck.items()} == {("pause", 2), ("kill", 3)}
    assert not [event for event in happened if event["what"] in ("fault failed", "restarted")]

    links = json.loads(network.newest("summary.json"))["network"]["links"]
    held = {(row["sender"], row["receiver"], row["property"]): row["held"] for row in links if row["held"] is not None}
    assert held[0, 1, "rate"] == 5e6
    assert held[1, 0, "rate"] == 2e7
    assert held[1, 2, "loss"] == held[2, 1, "loss"] == 0.01
    network.wait("nobody is paused or away any more", lambda: len(network.members()) == NODES, 40)
    states = {node.name: network.execute(node, "sh", "-c", "cut -d' ' -f3 /proc/[0-9]*/stat", check=False)
              for node in network.containers("node")}  # fmt: skip
    assert not [name for name, state in states.items() if "T" in state.split()], states
    assert output


def test_what_was_held_for_a_node_that_was_killed_is_not_there_in_the_next_run(network: Project) -> None:
    network.wait("all are there", lambda: len(network.members()) == NODES, 40)
    network.ended_run(*SMALL, "--set", "stop.iterations=50", "--set", "links={delay: 0ms}", seconds=120)
    assert json.loads(network.newest("summary.json"))["exact"]
    for node in network.containers("node"):
        assert is_unshaped(network, node), shaping(network, node)


def test_nodes_whose_orchestrator_is_gone_return_to_baseline(network: Project) -> None:
    network.wait("all are there", lambda: len(network.members()) == NODES, 40)
    running = network.pame_run(*SMALL, "--set", "stop.iterations=100000", "--set", f"links={LINKS}")
    try:
        network.wait(
            "all links are shaped",
            lambda: all("htb" in shaping(network, node) for node in network.containers("node")),
            60,
        )
        docker("kill", network.container("orchestrator").id)
        network.wait(
            "the lease is over",
            # a container that was started anew has a network namespace that nobody has shaped
            lambda: all(node.restarts or is_unshaped(network, node) for node in network.containers("node")),
            LEASE_S + 80,
        )
    finally:
        running.kill()
        running.communicate(timeout=10)
