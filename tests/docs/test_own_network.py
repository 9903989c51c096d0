"""The example of docs/vision.md: a network and a data set of one's own, as a user has them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.edge

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PAME = (sys.executable, "-c", "from orchestrator.cli import main; main()")


def call(folder: Path, *command: str) -> str:
    paths = os.pathsep.join([str(EXAMPLES.parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PAME_DATA": str(folder / "data"), "PYTHONPATH": paths}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=False, cwd=folder, env=environment
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("own_network.py", "own_network.yaml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    call(tmp_path, sys.executable, "own_network.py")
    call(tmp_path, *PAME, "data", "prepare", "table", "--from", "stripes.npz", "--name", "stripes")
    return tmp_path


def test_the_example_learns_its_data(folder: Path) -> None:
    out = call(folder, *PAME, "run", "-q", "--backend", "simulate", "own_network.yaml").strip()
    summary = json.loads((folder / out / "summary.json").read_text())
    assert summary["final"]["metrics"]["test_accuracy"] > 0.9
    assert (folder / out / "class_counts.json").is_file()


def test_what_the_network_draws_is_the_same_in_the_simulator_and_on_real_nodes(folder: Path) -> None:
    """f at the mean model; the order in which models are added up changes its last digit."""
    ended = []
    for backend in ("simulate", "local"):
        out = call(folder, *PAME, "run", "-q", "--backend", backend, "--set", "stop.iterations=5", "own_network.yaml")
        ended.append(json.loads((folder / out.strip() / "summary.json").read_text()))
    assert ended[1]["exact"]
    assert ended[0]["final"]["objective"] == pytest.approx(ended[1]["final"]["objective"], rel=1e-12)


def test_the_page_says_the_commands_of_the_example() -> None:
    page = (EXAMPLES.parent / "vision.md").read_text()
    commands = [line.split("#")[0].strip() for line in (EXAMPLES / "own_network.py").read_text().splitlines()[2:5]]
    for command in commands:
        assert command in page
