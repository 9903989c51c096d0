"""The ready experiment files and what README and pages show of them keep working."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contract import data_store
from orchestrator.campaigns.compare import load_comparison
from orchestrator.campaigns.compare.grid import contestants, experiment_of, tuning_cells, views
from orchestrator.data import prepare
from orchestrator.experiment import default_path, load
from orchestrator.experiment.resolve import choose_driver, make_setting, make_topology
from pame.algorithms import PameSpec, PenaltyStep
from pame.byte_account import ByteAccount
from pame.data_set import DataFacts, DataSet, Samples, contents_sha256
from pame.simulator import DRIVERS, check
from tests.contract.data_builders import store
from tests.harness import Watcher
from tests.orchestrator.data.builders import write_tiny_imagenet

ROOT = Path(__file__).parent.parent
COMPARISONS = sorted((ROOT / "experiments").glob("compare-*.yaml"))
FILES = [*sorted(set((ROOT / "experiments").glob("*.yaml")) - set(COMPARISONS)), default_path()]


SHAPES = {"fashion-mnist": (28, 28, 1), "cifar10": (32, 32, 3), "tiny-imagenet": (64, 64, 3)}


@pytest.fixture(scope="module", autouse=True)
def _small_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In place of the data sets that experiments name: ten classes, and fewer samples."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(data_store.VARIABLE, str(folder))
        for name, shape in SHAPES.items():
            black = Samples(np.zeros((2000, *shape), np.uint8), np.arange(2000, dtype=np.int64) % 10)
            halves, sha256 = (0.5,) * shape[2], contents_sha256(black, black)
            facts = DataFacts(name, shape, tuple("abcdefghij"), halves, halves, sha256)
            store(folder, DataSet(facts, black, black))
        yield


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_ready_experiment_can_be_run(path: Path) -> None:
    for variant in load(path):
        check(choose_driver(variant.experiment), make_setting(variant.experiment, path.parent))


@pytest.mark.parametrize("path", COMPARISONS, ids=lambda path: path.stem)
def test_a_ready_comparison_can_be_run(path: Path) -> None:
    comparison = load_comparison(path)
    experiments = {(cell.algorithm, cell.view): experiment_of(comparison, cell) for cell in tuning_cells(comparison)}
    assert experiments.keys() == {(name, view) for view in views(comparison) for name in contestants(comparison, view)}
    for experiment in experiments.values():
        check(choose_driver(experiment), make_setting(experiment, path.parent))


@pytest.mark.parametrize("nodes", [64, 128])
def test_the_comparison_of_the_paper_has_its_larger_sizes_too(nodes: int) -> None:
    path = ROOT / "experiments" / "compare-logistic.yaml"
    comparison = load_comparison(path, [f"nodes={nodes}"])
    for cell in tuning_cells(comparison):
        assert experiment_of(comparison, cell).nodes == nodes
    for seed in (comparison.tuning.seed, *comparison.seeds):
        assert make_topology(experiment_of(comparison, replace(cell, seed=seed)), path.parent).nodes == nodes


def test_tiny_imagenet_runs_on_a_tree_of_the_standard_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(data_store.VARIABLE, str(tmp_path / "data"))
    write_tiny_imagenet(tmp_path / "tree", each=40)
    prepare("tiny-imagenet", tmp_path / "tree", None, lambda _words, _share: None)
    path = ROOT / "experiments" / "tiny-imagenet.yaml"
    few = ["stop.iterations=2", "evaluate.every=2", "problem.batch=2", "problem.objective_samples=8"]
    [variant] = load(path, [*few, "problem.own_test_samples=2"])
    setting, watcher = make_setting(variant.experiment, path.parent), Watcher()
    outcome = DRIVERS[choose_driver(variant.experiment)](setting, watcher, ByteAccount(variant.experiment.nodes))
    assert outcome.iterations == 2
    assert not np.array_equal(outcome.models[0], setting.start)


def test_the_paper_s_examples_have_its_settings_for_networks() -> None:
    for name, runs in (("example-3", 3), ("example-4", 5)):
        variants = load(ROOT / "experiments" / f"{name}.yaml")
        assert len(variants) == runs
        for variant in variants:
            experiment = variant.experiment
            assert isinstance(experiment.algorithm, PameSpec)
            assert experiment.algorithm.step == PenaltyStep(sigma0=5.0, gamma=1.001)
            assert (experiment.algorithm.participation, experiment.algorithm.support) == (0.5, 0.1)
            assert (experiment.period.min, experiment.period.max) == (5, 10)


def test_readme_and_pages_name_only_experiments_that_exist() -> None:
    for page in (ROOT / "README.md", *ROOT.glob("docs/*.md")):
        named = set(re.findall(r"experiments/[a-z0-9-]+\.yaml", page.read_text()))
        assert [name for name in named if not (ROOT / name).is_file()] == [], page


def test_the_python_example_of_the_library_runs(tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    assert "[·, ·, ★, 6]" in done.stdout
