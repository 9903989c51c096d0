"""The example of docs/vision.md: a network and a data set of one's own, as a user has them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import call, told

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAME_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parents[1]), prepend=os.pathsep)
    for name in ("own_network.py", "own_network.yaml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    subprocess.run([sys.executable, "own_network.py"], timeout=100, check=True, cwd=tmp_path)
    told(call(tmp_path, "data", "prepare", "table", "--from", "stripes.npz", "--name", "stripes"))
    return tmp_path


def ended(folder: Path, backend: str, *words: str) -> tuple[Path, dict[str, Any]]:
    """The folder of a run, and its summary."""
    run = folder / told(call(folder, "run", "-q", "--backend", backend, *words, "own_network.yaml")).strip()
    return run, json.loads((run / "summary.json").read_text())


def test_the_example_learns_its_data(folder: Path) -> None:
    run, summary = ended(folder, "simulate")
    assert summary["final"]["metrics"]["test_accuracy"] > 0.9
    assert (run / "class_counts.json").is_file()


def test_what_the_network_draws_is_the_same_in_the_simulator_and_on_real_nodes(folder: Path) -> None:
    """f at the mean model; the order in which models are added up changes its last digit."""
    simulated, real = (ended(folder, backend, "--set", "stop.iterations=5")[1] for backend in ("simulate", "local"))
    assert real["exact"]
    assert simulated["final"]["objective"] == pytest.approx(real["final"]["objective"], rel=1e-12)


def test_the_page_says_the_commands_of_the_example() -> None:
    page = (EXAMPLES.parent / "vision.md").read_text()
    commands = [line.split("#")[0].strip() for line in (EXAMPLES / "own_network.py").read_text().splitlines()[2:5]]
    assert [command for command in commands if command not in page] == []
