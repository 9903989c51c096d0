"""The example push-sum is the method it says it is, and the same on every backend, to the last bit and byte."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.plugins import VARIABLE
from orchestrator.backends.local import local
from orchestrator.campaigns.process_pool import process_pool
from orchestrator.experiment import Experiment
from orchestrator.experiment.plugins import add_plugins
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Status
from pame import algorithms
from pame.byte_account import ByteAccount
from pame.errors import MessageRefused
from pame.exchange import ValueType
from pame.links import LinkSpec
from pame.observe import RunOutcome
from pame.resolved_run import ResolvedRun
from pame.simulator import DRIVERS, run_lock_step, run_virtual_time
from tests.contract.harness import forgetting_plugins
from tests.harness import Watcher

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "push_sum.py"
N, NODES, ITERATIONS, ETA = 20, 6, 60, 0.05
SENTENCE = (
    "algorithm 'undeclared': nodes would refuse its messages: vector 'weight' has length 1, and 20 is expected: "
    "declare it with `lengths = {'weight': 1}` beside `vectors`, or send 20"
)


@pytest.fixture
def kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Push-sum, and the same without the length of its weight, are known here and to nodes; afterwards to nobody."""
    monkeypatch.setenv(VARIABLE, "")
    line = '    lengths: ClassVar = {"weight": 1}'
    text = EXAMPLE.read_text()
    assert line in text
    undeclared = tmp_path / "undeclared.py"
    undeclared.write_text(text.replace(line, "    #").replace('"push-sum"', '"undeclared"'))
    with forgetting_plugins(algorithms.SPECS):
        add_plugins([EXAMPLE, undeclared])
        yield
    Experiment.model_rebuild(force=True)


def experiment(kind: str, **settings: Any) -> Experiment:
    common = {
        "name": "test",
        "nodes": NODES,
        "period": "1..3",
        "problem": {"kind": "linear", "n": N, "samples": 30, "test_samples": 10},
        "algorithm": {"kind": kind, "eta": ETA},
        "stop": {"iterations": ITERATIONS},
    }
    return Experiment.model_validate_json(json.dumps({**common, **settings}))


def by_matrices(setting: ResolvedRun) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The models of push-sum with the column-stochastic matrices of who got whose share."""
    selection = setting.selection()
    mass, weight = np.zeros((NODES, N)), np.ones(NODES)
    for k in range(ITERATIONS):
        mixing = np.eye(NODES)
        for j in range(NODES):
            for i in selection.receivers(j, k):
                mixing[i, j] = not setting.conditions.is_lost(j, i, k)
        mixing /= mixing.sum(axis=0)
        mass, weight = mixing @ mass, mixing @ weight
        for i in range(NODES):
            mass[i] -= ETA * setting.problem.local(i).gradient(mass[i] / weight[i], k)
    assert weight.sum() == pytest.approx(NODES, rel=1e-12)
    assert weight.max() > 1.2 > 0.8 > weight.min()  # so that models without their weights would be far off
    return mass / weight[:, None]


def lock_step(setting: ResolvedRun) -> RunOutcome:
    return run_lock_step(setting, Watcher(), ByteAccount(NODES))


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.usefixtures("kinds")
def test_its_models_are_those_of_column_stochastic_matrices(tmp_path: Path, loss: float) -> None:
    setting = make_network_setting(experiment("push-sum", messages={"loss": loss}), tmp_path)
    outcome = lock_step(setting)
    np.testing.assert_allclose(outcome.models, by_matrices(setting), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("values", ["float64", "float32"])
@pytest.mark.usefixtures("kinds")
def test_every_backend_has_the_same_bits_and_the_same_bytes(tmp_path: Path, values: str) -> None:
    made = experiment("push-sum", messages={"values": values})
    ending = local(made, tmp_path, tmp_path / "run", Watcher())
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    events = tmp_path / "run" / "events.jsonl"
    why = f"{summary['messages']} {summary['network']} {events.read_text() if events.exists() else ''}"
    assert (ending.status, ending.iterations, ending.exact) == (Status.FINISHED, ITERATIONS, True), why
    models = np.load(tmp_path / "run" / "models.npy")
    setting = make_network_setting(made, tmp_path)
    assert setting.messages.value_type is ValueType[values.upper()]
    for driver in (run_lock_step, run_virtual_time):
        account = ByteAccount(NODES)
        outcome = driver(replace(setting, link=LinkSpec(0.003, 0.002, 1e6)), Watcher(), account)
        assert outcome.models.tobytes() == models.tobytes()
        assert summary["messages"]["sent"] == sum(account.links().messages) > 0
        assert summary["bytes"]["total"] == sum(account.links().bytes)
    one = (N + 1) * setting.messages.value_type.dtype.itemsize + 2
    assert summary["bytes"]["total"] == summary["messages"]["sent"] * one


@pytest.mark.parametrize("driver", ["lock-step", "virtual-time"])
@pytest.mark.usefixtures("kinds")
def test_without_the_length_of_its_weight_a_simulation_ends_with_what_to_declare(tmp_path: Path, driver: str) -> None:
    setting = make_network_setting(experiment("undeclared"), tmp_path)
    with pytest.raises(MessageRefused) as refused:
        DRIVERS[driver](setting, Watcher(), ByteAccount(NODES))
    assert str(refused.value) == SENTENCE


@pytest.mark.usefixtures("kinds")
def test_the_sentence_comes_back_from_a_process_of_a_sweep(tmp_path: Path) -> None:
    setting = make_network_setting(experiment("undeclared"), tmp_path)
    with process_pool(1) as pool, pytest.raises(MessageRefused) as refused:
        pool.submit(lock_step, setting).result(timeout=100)
    assert str(refused.value) == SENTENCE


@pytest.mark.usefixtures("kinds")
def test_without_the_length_of_its_weight_real_nodes_end_the_run_at_once_with_the_same_sentence(tmp_path: Path) -> None:
    watcher = Watcher()
    made = experiment("undeclared", stop={"iterations": 100_000, "seconds": "600s"})
    ending = local(made, tmp_path, tmp_path / "run", watcher)
    assert (ending.status, ending.reason, ending.exact) == (Status.FAILED, SENTENCE, False)
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["messages"]["sent"] == 0
    assert all(record.received == 0 for record in watcher.records)
