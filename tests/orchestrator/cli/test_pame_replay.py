"""What made a run and how it is done again: overrides, named sections, and pame replay."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.command import call, mistake, told
from tests.orchestrator.cli.harness import Pame, Simulate
from tests.orchestrator.evaluation.builders import prepared
from tests.pame.vision.builders import MODULE


def provenance_of(folder: Path) -> dict[str, str]:
    return dict(json.loads((folder / "provenance.json").read_text()))


def test_a_note_is_on_the_terminal_in_the_summary_and_in_the_report(
    simulate: Simulate, pame: Pame, small: Path
) -> None:
    note = "algorithm dpsgd: participation 1.0 kept from the file; support, step do not exist there; eta 0.1, "
    assert f"note: {note}" in pame("validate", small, "--set", "algorithm.kind=dpsgd").stdout
    run = simulate("algorithm.kind=dpsgd")
    assert f"note: {note}" in run.said
    assert run.summary["notes"][0].startswith(note)
    assert note in run.report
    provenance = provenance_of(run.folder)
    assert provenance["ended"] is not None
    assert provenance["command"].endswith("--backend simulate --set algorithm.kind=dpsgd")
    assert "--set algorithm.kind=dpsgd" in run.report
    assert provenance["started"] in run.report
    (run.folder / "provenance.json").unlink()
    assert pame("report", run.folder).returncode == 0
    assert "<dd><span>not recorded</span></dd>" in run.report


def test_a_sweep_of_named_sections_is_called_by_them_everywhere(simulate: Simulate) -> None:
    sections = "[{kind: pame, support: [0.2, 0.4], name: some of it}, {kind: dpsgd, eta: 0.05}]"
    sweep = simulate(f"algorithm={sections}")
    assert "a sweep of 3 runs over algorithm, algorithm.support" in sweep.said
    assert json.loads((sweep.folder / "sweep.json").read_text())["keys"] == ["algorithm", "algorithm.support"]
    assert [run["values"] for run in sweep.swept] == [
        {"algorithm": "some of it", "algorithm.support": 0.2},
        {"algorithm": "some of it", "algorithm.support": 0.4},
        {"algorithm": "dpsgd"},
    ]
    assert "algorithm = some of it · support = 0.2" in sweep.report
    assert "None" not in sweep.report.split("<script")[0]
    assert provenance_of(sweep.folder)["ended"] is not None
    commands = [provenance_of(sweep.folder / run["folder"])["command"] for run in sweep.swept]
    assert all(command.startswith("pame run") for command in commands)


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


OWN = """
nodes: 3
topology: {kind: edge-list, file: graphs/path.txt}
problem: {kind: image-classification, data: stripes, model: {kind: module, module: mine.py:Net}, batch: 8}
algorithm: {kind: dpsgd, eta: 0.1}
period: 1
evaluate: {every: 5}
stop: {iterations: 10}
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


def test_a_run_is_replayed_from_its_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edge list and a network of one's own are kept there: nothing is left of what the experiment named."""
    prepared(tmp_path, monkeypatch)
    (tmp_path / "mine" / "graphs").mkdir(parents=True)
    (tmp_path / "mine" / "graphs" / "path.txt").write_text("0 1\n1 2\n")
    (tmp_path / "mine" / "mine.py").write_text(MODULE)
    (tmp_path / "mine" / "own.yaml").write_text(OWN)
    told(call(tmp_path, "run", "mine/own.yaml", "--backend", "simulate"))
    shutil.rmtree(tmp_path / "mine")
    told(call(tmp_path, "replay", "last", "--backend", "simulate"))
    first, second = folders(tmp_path)
    assert (second / "curve.jsonl").read_bytes() == (first / "curve.jsonl").read_bytes()
    assert sorted(path.name for path in (second / "files").iterdir()) == ["mine.py", "path.txt"]


def test_what_cannot_be_replayed_is_one_clear_line(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "runs" / "empty").mkdir(parents=True)
    assert "has no experiment.yaml" in mistake(pame("replay", "empty"))
    assert "there is no backend 'moon'" in mistake(pame("replay", "empty", "--backend", "moon"))
