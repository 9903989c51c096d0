"""What the tests of the command share."""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command import Service, only_run
from tests.orchestrator.harness import summary_of
from tests.orchestrator.report.oracle import unwrapped

Pame = Callable[..., subprocess.CompletedProcess[str]]
"""Calls `pame` with these arguments in an empty folder."""

Serve = Callable[..., Service]
"""Begins `pame serve` with these arguments there."""

SMALL = """
nodes: 6
topology: {kind: ring}
problem: {kind: linear, n: 12, samples: 20, test_samples: 50}
algorithm: {kind: pame, participation: 1.0, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 2
evaluate: {every: 5}
stop: {iterations: 20}
"""


def sets(*settings: str) -> list[str]:
    """Each of them as an argument."""
    return [word for setting in settings for word in ("--set", setting)]


def swept_in(root: Path) -> list[dict[str, Any]]:
    """The runs of the only sweep there, as its index has them."""
    return list(json.loads((only_run(root) / "sweep.json").read_text())["runs"])


@dataclass(frozen=True)
class Simulated:
    """What a simulated run or sweep said, and what it left."""

    said: str
    errors: str
    root: Path

    @property
    def folder(self) -> Path:
        return only_run(self.root)

    @property
    def summary(self) -> dict[str, Any]:
        return summary_of(self.folder)

    @property
    def swept(self) -> list[dict[str, Any]]:
        return swept_in(self.root)

    @property
    def report(self) -> str:
        return unwrapped((self.folder / "report.html").read_text())


Simulate = Callable[..., Simulated]
"""Runs the small experiment in the simulator with these settings, as `simulate("seed=2", more=["--quiet"], code=0)`."""


def simulating(pame: Pame, file: Path) -> Simulate:
    def simulate(*settings: str, more: Sequence[object] = (), plugin: Path | None = None, code: int = 0) -> Simulated:
        first = () if plugin is None else ("--plugin", plugin)
        done = pame(*first, "run", file, "--backend", "simulate", *more, *sets(*settings))
        assert done.returncode == code, done.stdout + done.stderr
        return Simulated(done.stdout, done.stderr, file.parent)

    return simulate
