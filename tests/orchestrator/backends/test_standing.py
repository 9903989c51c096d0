"""Several experiments on nodes that are started once."""

from pathlib import Path

import numpy as np

from orchestrator.backends import BACKENDS
from orchestrator.backends.local import on_loopback
from orchestrator.backends.on_processes import RunRequest, run_on_processes
from orchestrator.experiment import Experiment
from orchestrator.results import Ending, Status
from tests.harness import Watcher
from tests.orchestrator.backends.harness import experiment_of
from tests.orchestrator.harness import events_of, summary_of

SIZES = {
    "topology": {"kind": "ring"},
    "problem": {"kind": "linear", "n": 20, "samples": 20, "test_samples": 10},
    "stop": {"iterations": 30},
    "verify": {"when": "never"},
}


def errands_of(experiments: list[Experiment], folder: Path) -> list[RunRequest]:
    return [
        RunRequest("local", experiment, folder, folder / f"run-{number}", Watcher())
        for number, experiment in enumerate(experiments)
    ]


def test_every_run_on_a_standing_network_ends_as_it_would_by_itself(tmp_path: Path) -> None:
    experiments = [experiment_of(nodes=4, seed=seed, **SIZES) for seed in (1, 2)]
    experiments.append(experiment_of(nodes=3, seed=3, **SIZES))  # one node has nothing to do
    errands = errands_of(experiments, tmp_path)
    seen: list[tuple[Path, Status]] = []

    def ended(errand: RunRequest, ending: Ending) -> None:
        seen.append((errand.folder, ending.status))

    endings = run_on_processes(errands, tmp_path / "nodes.log", on_loopback, ended)
    assert [ending.exact for ending in endings] == [True] * 3
    assert seen == [(errand.folder, Status.FINISHED) for errand in errands]
    alone = tmp_path / "alone"
    BACKENDS["local"].run(experiments[1], tmp_path, alone, Watcher())
    assert np.array_equal(np.load(errands[1].folder / "models.npy"), np.load(alone / "models.npy"))
    assert summary_of(errands[2].folder)["nodes"] == 3


def test_the_nodes_are_the_same_processes_in_every_run(tmp_path: Path) -> None:
    experiments = [experiment_of(nodes=3, seed=seed, **SIZES) for seed in (1, 2)]
    errands = errands_of(experiments, tmp_path)
    run_on_processes(errands, tmp_path / "nodes.log", on_loopback)
    seats = [{event["node"]: event["detail"] for event in events_of(errand.folder, "assigned")} for errand in errands]
    assert seats[0].keys() == seats[1].keys() == {0, 1, 2}
    assert all(summary_of(e.folder)["network"]["restarts"] == 0 for e in errands)


def test_a_run_ends_healed_so_that_the_next_has_all_its_nodes(tmp_path: Path) -> None:
    """Two faults without an end of their own: one node is paused, another is away, until the run is over."""
    faults = [{"kind": "pause", "nodes": [0], "at": "200ms"}, {"kind": "kill", "nodes": [1], "at": "200ms"}]
    struck = experiment_of(
        nodes=4, seed=1, compute={"step": "20ms"}, exchange={"patience": "300ms"}, faults=faults, **SIZES
    )
    errands = errands_of([struck, experiment_of(nodes=4, seed=2, **SIZES)], tmp_path)
    endings = run_on_processes(errands, tmp_path / "nodes.log", on_loopback)
    assert [ending.status for ending in endings] == [Status.FINISHED] * 2
    assert {event["node"] for event in events_of(errands[0].folder, "fault begins")} == {0, 1}
    assert not events_of(errands[0].folder, "restarted")
    assert endings[1].exact
