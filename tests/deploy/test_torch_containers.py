"""Neural networks in containers: shaped links, no data on any node, and the bits of the simulator."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from contract import data_store
from orchestrator.experiment import load
from tests.contract.data_builders import store
from tests.deploy.harness import docker, project
from tests.orchestrator.simulated import is_as_simulated
from tests.pame.vision.builders import data_set

pytestmark = [
    pytest.mark.requires("docker"),
    pytest.mark.requires("torch-images"),
    pytest.mark.xdist_group("containers"),
    pytest.mark.timeout(300),
]

NODES, SAMPLES = 4, 800
EXPERIMENT = "vision-containers"


def test_containers_without_data_train_a_network_to_the_bits_of_the_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On small pictures under the name of those that the experiment asks for."""
    small = data_set(SAMPLES)
    store(tmp_path / "data", replace(small, facts=replace(small.facts, name="fashion-mnist")))
    settings = {"PAME_EXPERIMENT": EXPERIMENT, "PAME_NODES": str(NODES), "PAME_DATA": str(tmp_path / "data")}
    with project(PAME_NODE_TARGET="node-torch", **settings) as made:
        made.up(NODES)
        made.wait_for_log("orchestrator", '"event": "run_ended"', 200)
        [folder] = made.execute(made.container("orchestrator"), "ls", "/runs").split()
        docker("cp", f"{made.container('orchestrator').id}:/runs/{folder}", str(tmp_path / "run"))
        assert all(node.restarts == 0 for node in made.containers("node"))
    facts = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (facts["status"], facts["exact"], facts["notes"]) == ("finished", True, [])
    network = facts["network"]
    assert (network["delivered_nodes"], network["delivered_bytes"]) == (NODES, SAMPLES * (4 + 8 * 8))
    assert {link["property"] for link in network["links"]} == {"delay", "jitter", "rate"}
    assert network["resident_bytes"] < 450e6
    monkeypatch.setenv(data_store.VARIABLE, str(tmp_path / "data"))
    [variant] = load(tmp_path / "run" / "experiment.yaml", [])
    assert is_as_simulated(tmp_path / "run", variant.experiment)
