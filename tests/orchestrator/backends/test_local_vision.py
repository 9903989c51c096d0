"""Neural networks on real processes: the simulator's bits; samples from the disk or delivered; a user's own module."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract import data_store
from contract.plugins import VARIABLE
from orchestrator.backends.local import local, on_loopback
from orchestrator.backends.on_processes import RunRequest, run_on_processes
from orchestrator.control import NetworkState
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Status
from pame.algorithms import SPECS
from pame.byte_account import ByteAccount
from pame.simulator import run_lock_step
from tests.contract.data_builders import store
from tests.harness import Watcher, until
from tests.orchestrator.backends.harness import experiment_of, running
from tests.orchestrator.harness import summary_of
from tests.orchestrator.report.oracle import unwrapped
from tests.pame.vision.builders import MODULE, data_set

NODES, ITERATIONS = 4, 10
PROBLEM: dict[str, Any] = {"kind": "image-classification", "data": "stripes", "batch": 8}
DENSE_AND_PARTIAL: list[dict[str, Any]] = [
    {"kind": "pame", "support": 1.0, "participation": 1.0},
    {"kind": "pame", "support": 0.2, "participation": 0.5},
    {"kind": "dpsgd", "participation": 1.0},
    {"kind": "dpsgd", "participation": 0.5},
]
OTHERS = [{"kind": kind} for kind in SPECS if kind not in ("pame", "dpsgd")]


@pytest.fixture(autouse=True)
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data set `stripes` is on this machine."""
    monkeypatch.setenv(data_store.VARIABLE, str(tmp_path / "data"))
    store(tmp_path / "data", data_set())


def vision(algorithm: dict[str, Any], **settings: Any) -> Experiment:
    common = {
        "nodes": NODES,
        "topology": {"kind": "ring"},
        "problem": PROBLEM,
        "algorithm": algorithm,
        "stop": {"iterations": ITERATIONS},
        "evaluate": {"every": 5, "when": "during", "own_models": False},
        "verify": {"when": "never"},
    }
    return experiment_of(**{**common, **settings})


def simulated(experiment: Experiment, base: Path) -> bytes:
    return run_lock_step(make_network_setting(experiment, base), Watcher(), ByteAccount(NODES)).models.tobytes()


def test_every_algorithm_trains_a_network_on_processes_to_the_bits_of_the_simulator(tmp_path: Path) -> None:
    experiments = [vision(algorithm) for algorithm in (*DENSE_AND_PARTIAL, *OTHERS)]
    requests = [RunRequest("local", each, tmp_path, tmp_path / str(i), Watcher()) for i, each in enumerate(experiments)]
    endings = run_on_processes(requests, tmp_path / "nodes.log", on_loopback)
    for experiment, request, ending in zip(experiments, requests, endings, strict=True):
        assert (ending.status, ending.exact) == (Status.FINISHED, True), (experiment.algorithm, ending.reason)
        assert (request.folder / "models.npy").stat().st_size > 8 * NODES * 1000
        models = np.load(request.folder / "models.npy")
        assert models.tobytes() == simulated(experiment, tmp_path), experiment.algorithm
        assert ending.iterations == ITERATIONS
    network = summary_of(requests[0].folder)["network"]
    assert (network["delivered_bytes"], network["delivered_nodes"]) == (0, 0)
    assert "0 B · 0" in unwrapped((requests[0].folder / "report.html").read_text())


class ForkServers(Watcher):
    """What the children of this process have in memory while nodes are at work."""

    def __init__(self) -> None:
        super().__init__()
        self.maps: list[str] = []

    def state(self, state: NetworkState) -> None:
        super().state(state)
        if state.phase == "running" and not self.maps:
            pids = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()
            self.maps = [Path(f"/proc/{pid}/maps").read_text() for pid in pids]


@pytest.mark.parametrize(("problem", "has_torch"), [(PROBLEM, True), ({"kind": "linear", "n": 8}, False)])
def test_nodes_are_forked_from_a_process_that_has_torch_only_where_it_is_needed(
    problem: dict[str, Any], has_torch: bool, tmp_path: Path
) -> None:
    servers = ForkServers()
    ending = local(vision({"kind": "dpsgd"}, problem=problem), tmp_path, tmp_path / "run", servers)
    assert ending.status is Status.FINISHED, ending.reason
    assert any("libtorch" in maps for maps in servers.maps) is has_torch


async def test_nodes_without_the_data_set_are_sent_their_samples_and_compute_the_same_bits(tmp_path: Path) -> None:
    experiment = vision(DENSE_AND_PARTIAL[1])
    empty = {data_store.VARIABLE: str(tmp_path / "nothing")}
    async with running(experiment, tmp_path / "run", of_nodes=empty) as world:
        pass
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, True)
    models = [model for _, (_, model) in sorted(outcome.run.collection.results.items())]
    assert np.array(models).tobytes() == simulated(experiment, tmp_path)
    assert outcome.run.deliveries.nodes == set(range(NODES))
    assert outcome.run.deliveries.bytes == 160 * (8 * 8 + 4)  # an octet per pixel, four per label


async def test_a_node_that_comes_back_is_sent_its_samples_again(tmp_path: Path) -> None:
    experiment = vision({"kind": "dpsgd"}, compute={"step": "200ms"}, stop={"iterations": 40})
    empty = {data_store.VARIABLE: str(tmp_path / "nothing")}
    async with running(experiment, tmp_path / "run", of_nodes=empty) as world:
        await world.at_iteration("node-2", 3)
        await world.kill("node-2")
        world.start("node-2")
        await until(lambda: world.run.indices.incarnation(world.index("node-2")) == 1)
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED, outcome.ending.reason
    [index] = outcome.happened("restarted")
    assert outcome.run.totals.by_node()[index, 1].steps > 0
    assert outcome.run.deliveries.bytes == 5 * 40 * (8 * 8 + 4)  # of 40 samples: one node twice


async def test_nodes_that_compute_with_other_instructions_than_the_orchestrator_are_told_apart(tmp_path: Path) -> None:
    experiment = vision({"kind": "dpsgd"})
    slower = {"ATEN_CPU_CAPABILITY": "default"}
    async with running(experiment, tmp_path / "run", of_nodes=slower) as world:
        pass
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert outcome.run.other_builds == set(range(NODES))


def test_the_users_own_module_beside_the_experiment_reaches_local_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "mine.py").write_text(MODULE)
    problem = PROBLEM | {"model": {"kind": "module", "module": "mine.py:Net"}}
    experiment = vision(DENSE_AND_PARTIAL[1], problem=problem)
    ending = local(experiment, tmp_path, tmp_path / "run", Watcher())
    assert (ending.status, ending.exact) == (Status.FINISHED, True), ending.reason
    models = np.load(tmp_path / "run" / "models.npy")
    assert models.shape == (NODES, 64 * 8 + 8 + 8 * 4 + 4)
    assert models.tobytes() == simulated(experiment, tmp_path)
