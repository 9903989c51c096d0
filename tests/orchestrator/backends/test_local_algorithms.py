"""Every registered algorithm on real processes, over real gRPC: the models of the simulator, bit for bit."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment import Experiment
from pame.algorithms import SPECS
from pame.byte_account import ByteAccount, Fate
from tests.orchestrator.backends.harness import experiment_of, same_as_simulated
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


def account_of_both(made: Experiment, folder: Path) -> ByteAccount:
    """Of all iterations on processes and in the simulator, which agree."""
    ending, account = same_as_simulated(made, folder)
    assert ending.iterations == ITERATIONS
    return account


@pytest.mark.parametrize("kind", SPECS)
def test_an_algorithm_on_processes_computes_what_it_computes_in_the_simulator(tmp_path: Path, kind: str) -> None:
    assert account_of_both(experiment({"kind": kind}), tmp_path).clean


@pytest.mark.parametrize("kind", SPECS)
def test_it_still_does_when_messages_are_lost_on_purpose_and_rounded(tmp_path: Path, kind: str) -> None:
    made = experiment({"kind": kind}, messages={"loss": 0.2, "values": "float32"})
    assert account_of_both(made, tmp_path).messages(Fate.LOST) > 0


@pytest.mark.parametrize("values", ["float64", "float32"])
def test_quantized_models_travel_as_they_are_simulated(tmp_path: Path, values: str) -> None:
    algorithm = {"kind": "dfedavgm", "compressor": {"kind": "quantize", "bits": 4}}
    coarse = account_of_both(experiment(algorithm, messages={"loss": 0.2, "values": values}), tmp_path)
    whole = ByteAccount(NODES)
    simulated(experiment({"kind": "dfedavgm"}), tmp_path, whole)
    assert sum(coarse.links().bytes) < 0.5 * sum(whole.links().bytes)


@pytest.mark.parametrize("sampling", ["local", "oracle"])
def test_epidemic_learning_crosses_the_ring(tmp_path: Path, sampling: str) -> None:
    made = experiment({"kind": "epidemic", "sampling": sampling, "fan_out": 2}, period=1)
    links = account_of_both(made, tmp_path).links()
    assert len(set(zip(links.sender.tolist(), links.receiver.tolist(), strict=True))) > 2 * NODES
