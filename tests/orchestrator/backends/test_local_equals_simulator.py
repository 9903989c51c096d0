"""Proof: on local processes, over real gRPC, the models are those of the simulator, bit for bit."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.local import local
from orchestrator.experiment import load
from orchestrator.results import Status
from tests.harness import Watcher
from tests.orchestrator.backends.harness import experiment_of, same_as_simulated
from tests.orchestrator.harness import rows_of, summary_of
from tests.orchestrator.simulated import is_as_simulated

QUICKSTART = Path(__file__).parents[3] / "experiments" / "quickstart.yaml"
PAME = {"kind": "pame", "participation": 0.5, "support": 0.2}
DPSGD = {"kind": "dpsgd", "eta": 0.05}
LINEAR = {"kind": "linear", "n": 60, "samples": 40, "test_samples": 50}
LOGISTIC = {"kind": "logistic", "n": 60, "samples": 40, "test_samples": 50}


@pytest.mark.parametrize("nodes", [8, 16])
@pytest.mark.parametrize("problem", [LINEAR, LOGISTIC], ids=lambda problem: problem["kind"])
@pytest.mark.parametrize("algorithm", [PAME, DPSGD], ids=lambda algorithm: algorithm["kind"])
def test_models_after_fifty_iterations_are_those_of_the_simulator(
    tmp_path: Path, nodes: int, problem: dict[str, Any], algorithm: dict[str, Any]
) -> None:
    experiment = experiment_of(nodes=nodes, problem=problem, algorithm=algorithm, stop={"iterations": 50})
    ending, _ = same_as_simulated(experiment, tmp_path)
    assert (ending.iterations, ending.exact) == (50, True)


@pytest.mark.requires("root")
def test_every_link_has_its_connection_as_the_kernel_counted_it(tmp_path: Path) -> None:
    experiment = experiment_of(nodes=8, problem=LINEAR, algorithm=PAME, stop={"iterations": 50})
    local(experiment, tmp_path, tmp_path / "run", Watcher())
    links, connections = (_rows(tmp_path / "run" / name) for name in ("links.csv", "connections.csv"))
    assert set(links) <= set(connections)
    for link, row in links.items():
        assert row["bytes"] < connections[link]["bytes_sent"] < 3 * row["bytes"] + 2000
        assert connections[link]["connections"] == 1
    wire = summary_of(tmp_path / "run")["network"]["wire"]
    for name, total in wire["sockets"].items():
        assert total == sum(row[name] for row in connections.values())


def _rows(path: Path) -> dict[tuple[int, int], dict[str, int]]:
    """By sender and receiver."""
    rows = [{name: int(word) for name, word in row.items()} for row in rows_of(path)]
    return {(row.pop("sender"), row.pop("receiver")): row for row in rows}


def test_messages_lost_on_purpose_are_the_same_ones_as_in_the_simulator(tmp_path: Path) -> None:
    experiment = experiment_of(
        nodes=8, problem=LINEAR, algorithm=PAME, stop={"iterations": 50}, messages={"loss": 0.3, "values": "float32"}
    )
    local(experiment, tmp_path, tmp_path / "run", Watcher())
    assert is_as_simulated(tmp_path / "run", experiment)


def test_the_quickstart_with_thirty_two_nodes_finishes_here(tmp_path: Path) -> None:
    [variant] = load(QUICKSTART, ["stop.iterations=30", "compute={step: 20ms}"])
    experiment = variant.experiment
    assert (experiment.nodes, experiment.problem.kind) == (32, "logistic")
    watcher = Watcher()
    ending = local(experiment, tmp_path, tmp_path / "run", watcher)
    assert (ending.status, ending.iterations, ending.exact) == (Status.FINISHED, 30, True)
    assert len(watcher.records) == 32 * 30
    assert is_as_simulated(tmp_path / "run", experiment)
    summary = summary_of(tmp_path / "run")
    assert 10 * 2**20 < summary["network"]["resident_bytes"] < 100 * 2**20
