"""`pame replay`: the same experiment, and the same plan to the last character."""

from pathlib import Path

import numpy as np

from tests.command import mistake, told
from tests.orchestrator.cli.harness import Pame

FAULTY = """
nodes: 6
topology: {kind: complete}
problem: {kind: linear, n: 20, samples: 20, test_samples: 10}
period: 1
stop: {iterations: 30}
faults:
  - {kind: link-down, links: random(30%), at: {iteration: 5}, for: {iterations: 10}}
  - {kind: message-loss, links: all, loss: 20%, at: {iteration: 12}}
"""


def folders(root: Path) -> list[Path]:
    return sorted((root / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def test_a_replayed_run_has_the_same_plan_and_the_same_models(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY)
    assert pame("run", tmp_path / "faulty.yaml", "--seed", "5").returncode == 0
    [first] = folders(tmp_path)
    told(pame("replay", "last"))
    second = folders(tmp_path)[-1]
    assert second != first
    assert (second / "plan.jsonl").read_bytes() == (first / "plan.jsonl").read_bytes()
    assert np.array_equal(np.load(first / "models.npy"), np.load(second / "models.npy"))
    third = told(pame("replay", second.name, "--backend", "simulate", "-q"))
    assert (tmp_path / third.strip() / "plan.jsonl").read_bytes() == (first / "plan.jsonl").read_bytes()


def test_a_plan_that_was_changed_is_what_is_replayed(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY)
    assert pame("run", tmp_path / "faulty.yaml", "--backend", "simulate").returncode == 0
    [first] = folders(tmp_path)
    lines = (first / "plan.jsonl").read_text().splitlines()
    (first / "plan.jsonl").write_text(lines[1] + "\n")
    done = pame("replay", "last", "--backend", "simulate", "-q")
    assert (tmp_path / done.stdout.strip() / "plan.jsonl").read_text() == lines[1] + "\n"
    (first / "plan.jsonl").write_text("nonsense\n")
    line = mistake(pame("replay", first.name, "--backend", "simulate"))
    assert "plan, line 1: is not JSON" in line


def test_what_cannot_be_replayed_is_one_clear_line(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "runs" / "empty").mkdir(parents=True)
    assert "has no experiment.yaml" in mistake(pame("replay", "empty"))
    assert "there is no backend 'moon'" in mistake(pame("replay", "empty", "--backend", "moon"))
