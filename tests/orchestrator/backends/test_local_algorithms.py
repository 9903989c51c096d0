"""Every registered algorithm on real processes, over real gRPC: the models of the simulator, bit for bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.backends.local import local
from orchestrator.experiment import Experiment
from orchestrator.results import Status
from pame.algorithms import SPECS
from pame.byte_account import ByteAccount, Fate
from tests.harness import Watcher
from tests.orchestrator.backends.harness import experiment_of
from tests.orchestrator.simulated import simulated

NODES, ITERATIONS = 5, 12
LINEAR = {"kind": "linear", "n": 20, "samples": 12, "batch": 6, "truth_shift": 0.5, "test_samples": 5}


def experiment(algorithm: dict[str, Any], **settings: Any) -> Experiment:
    """On a ring, so that an algorithm that reaches everybody is told from one that does not."""
    common = {
        "nodes": NODES,
        "topology": {"kind": "ring"},
        "problem": LINEAR,
        "algorithm": algorithm,
        "period": "1..2",
        "compute": {"step": "0ms"},
        "stop": {"iterations": ITERATIONS, "seconds": "60s"},
    }
    return experiment_of(**{**common, **settings})


def same_as_simulated(made: Experiment, folder: Path) -> ByteAccount:
    """Run it on processes and in the simulator; the simulator's account."""
    ending = local(made, folder, folder / "run", Watcher())
    account = ByteAccount(NODES)
    outcome = simulated(made, folder, account)
    assert (ending.status, ending.iterations, ending.exact) == (Status.FINISHED, ITERATIONS, outcome.exact)
    assert np.abs(outcome.models).max() > 0.0
    assert np.load(folder / "run" / "models.npy").tobytes() == outcome.models.tobytes()
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert summary["bytes"]["total"] == sum(account.links().bytes)
    assert summary["messages"]["sent"] == sum(account.links().messages)
    assert summary["network"]["absurd"] == 0
    return account


@pytest.mark.parametrize("kind", SPECS)
def test_an_algorithm_on_processes_computes_what_it_computes_in_the_simulator(tmp_path: Path, kind: str) -> None:
    assert same_as_simulated(experiment({"kind": kind}), tmp_path).clean


@pytest.mark.parametrize("kind", SPECS)
def test_it_still_does_when_messages_are_lost_on_purpose_and_rounded(tmp_path: Path, kind: str) -> None:
    made = experiment({"kind": kind}, messages={"loss": 0.2, "values": "float32"})
    assert same_as_simulated(made, tmp_path).messages(Fate.LOST) > 0


@pytest.mark.parametrize("values", ["float64", "float32"])
def test_quantized_models_travel_as_they_are_simulated(tmp_path: Path, values: str) -> None:
    algorithm = {"kind": "dfedavgm", "compressor": {"kind": "quantize", "bits": 4}}
    coarse = same_as_simulated(experiment(algorithm, messages={"loss": 0.2, "values": values}), tmp_path)
    whole = ByteAccount(NODES)
    simulated(experiment({"kind": "dfedavgm"}), tmp_path, whole)
    assert sum(coarse.links().bytes) < 0.5 * sum(whole.links().bytes)


@pytest.mark.parametrize("sampling", ["local", "oracle"])
def test_epidemic_learning_crosses_the_ring(tmp_path: Path, sampling: str) -> None:
    links = same_as_simulated(
        experiment({"kind": "epidemic", "sampling": sampling, "fan_out": 2}, period=1), tmp_path
    ).links()
    assert len(set(zip(links.sender.tolist(), links.receiver.tolist(), strict=True))) > 2 * NODES
