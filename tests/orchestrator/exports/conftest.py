"""A run with a fault, a sweep, a comparison, each made once in this process; and the command, in this process, too."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends import BACKENDS
from orchestrator.cli import main
from orchestrator.experiment import load
from tests.harness import Watcher

SMALL = """
name: small
nodes: 6
topology: {kind: ring}
problem: {kind: linear, n: 12, samples: 20, test_samples: 50}
algorithm: {kind: pame, participation: 1.0, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 2
compute: {step: 20ms}
evaluate: {every: 5}
stop: {iterations: 60}
"""
FAULTS = "faults=[{kind: partition, shape: halves, at: {iteration: 20}, for: {iterations: 10}}]"
CallIn = Callable[..., "subprocess.CompletedProcess[str]"]
"""Calls `pame` with these arguments in a folder."""


@pytest.fixture
def pame_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CallIn:
    def here(folder: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
        command = ["pame", *map(str, arguments)]
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as exit_:
            main()
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(command, int(exit_.value.code or 0), shown.out, shown.err)

    return here


def simulated(root: Path, *settings: str) -> list[tuple[Path, dict[str, Any]]]:
    """A run folder for each run that is asked for, and what the sweep chose for it."""
    file = root / "small.yaml"
    file.write_text(SMALL)
    found = []
    for number, variant in enumerate(load(file, settings), 1):
        folder = root / f"{number:02d}-small"
        BACKENDS["simulate"].run(variant.experiment, root, folder, Watcher())
        found.append((folder, dict(variant.values)))
    file.unlink()
    return found


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("one") / "runs"
    root.mkdir()
    [(folder, _)] = simulated(root, FAULTS)
    return folder


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept") / "runs" / "sweep"
    folder.mkdir(parents=True)
    runs = simulated(folder, "algorithm.support=[0.25, 0.5]", "seed=[3, 4]")
    listed = [{"folder": path.name, "values": values, "status": "finished"} for path, values in runs]
    (folder / "sweep.json").write_text(json.dumps({"name": "s", "keys": list(runs[0][1]), "runs": listed}))
    return folder


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `pame compare` leaves it: two algorithms and a line without exchange, two seeds, points to work with."""
    folder = tmp_path_factory.mktemp("compared") / "runs" / "two"
    folder.mkdir(parents=True)
    told = {"verb": "compare", "command": "pame compare two.yaml", "arguments": {}, "files": {}, "status": "finished"}
    (folder / "campaign.json").write_text(json.dumps(told))
    rows = [row("tuning", "pame", 100, 0.5, eta=0.02), row("tuning", "pame", 100, 0.6, eta=0.05)]
    for seed in (1, 2):
        rows += [row("baseline", "alone", seed, 0.97, eta=0.1, exchanges=False)]
        rows += [row("comparison", name, seed, rate, eta=0.05) for name, rate in (("pame", 0.8), ("dpsgd", 0.9))]
        rows += [row("comparison", "dpsgd", seed, 0.95, eta=0.1, view="standardized (shared, active, one period)")]
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    return folder


def row(
    stage: str, algorithm: str, seed: int, rate: float, eta: float, exchanges: bool = True, view: str = "as-published"
) -> dict[str, Any]:
    start, best = 2.0 + seed / 10, 0.5
    curve = [
        {
            "iteration": k, "rounds": k / 5 * exchanges, "bytes": 100.0 * k * exchanges, "seconds": None,
            "objective": best + (start - best) * rate**k,
            "metrics": {"consensus": 0.1 * rate**k, "nodes_objective": best + 1.1 * (start - best) * rate**k},
        }
        for k in range(0, 45, 5)
    ]  # fmt: skip
    return {
        "stage": stage, "labels": {"algorithm": algorithm, "view": view, "values": {"algorithm.eta": eta}},
        "seed": seed, "backend": "simulate", "status": "finished", "reason": "", "seconds": None, "cpu_bound": False,
        "health": "sound", "health_reason": "", "figures": {"start": start, "best": best, "company": {"partners": 1.0}},
        "curve": curve, "key": f"{stage}{algorithm}{seed}{eta}{view}",
    }  # fmt: skip
