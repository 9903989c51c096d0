"""The command as a user calls it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Pame = Callable[..., subprocess.CompletedProcess[str]]

SMALL = """
nodes: 6
topology: {kind: ring}
problem: {kind: linear, n: 12, samples: 20, test_samples: 50}
algorithm: {kind: pame, participation: 1.0, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 2
evaluate: {every: 5}
stop: {iterations: 20}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def pame(tmp_path: Path) -> Pame:
    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).parent / "pame"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=90, check=False)

    return call
