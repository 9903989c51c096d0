"""The ready experiment files and the README keep working."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from contract import data_store
from orchestrator.campaigns.compare import load_comparison
from orchestrator.campaigns.compare.grid import contestants, experiment_of, tuning_cells, views
from orchestrator.experiment import default_path, load
from orchestrator.experiment.resolve import choose_driver, make_setting, make_topology
from pame.simulator import check
from tests.contract.data_builders import store
from tests.pame.vision.builders import data_set

ROOT = Path(__file__).parent.parent
COMPARISONS = sorted((ROOT / "experiments").glob("compare-*.yaml"))
FILES = [*sorted(set((ROOT / "experiments").glob("*.yaml")) - set(COMPARISONS)), default_path()]


@pytest.fixture(autouse=True)
def _small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the data sets that experiments name."""
    monkeypatch.setenv(data_store.VARIABLE, str(tmp_path / "data"))
    small = data_set()
    for name in ("fashion-mnist",):
        store(tmp_path / "data", replace(small, facts=replace(small.facts, name=name)))


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


def test_the_readme_names_only_experiments_that_exist() -> None:
    named = set(re.findall(r"experiments/[a-z0-9-]+\.yaml", (ROOT / "README.md").read_text()))
    assert named
    assert all((ROOT / name).is_file() for name in named)


def test_the_python_example_of_the_readme_runs(tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    assert "[·, ·, ★, 6]" in done.stdout
