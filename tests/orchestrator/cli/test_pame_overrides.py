"""What becomes of the file's settings under another kind, named sections, and what made it: terminal, files, report."""

import json
from pathlib import Path

from tests.command import told
from tests.orchestrator.cli.harness import Pame


def test_a_note_is_on_the_terminal_in_the_summary_and_in_the_report(pame: Pame, small: Path, tmp_path: Path) -> None:
    note = "algorithm dpsgd: participation 1.0 kept from the file; support, step do not exist there; eta 0.1, "
    checked = pame("validate", small, "--set", "algorithm.kind=dpsgd")
    assert f"note: {note}" in checked.stdout
    assert f"note: {note}" in told(pame("run", small, "--backend", "simulate", "--set", "algorithm.kind=dpsgd"))
    [folder] = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "summary.json").read_text())["notes"][0].startswith(note)
    report = (folder / "report.html").read_text()
    assert note in report
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["ended"] is not None
    assert provenance["command"].endswith("--backend simulate --set algorithm.kind=dpsgd")
    assert "--set algorithm.kind=dpsgd" in report
    assert provenance["started"] in report
    (folder / "provenance.json").unlink()
    assert pame("report", folder).returncode == 0
    assert "<dd><span>not recorded</span></dd>" in (folder / "report.html").read_text()


def test_a_sweep_of_named_sections_is_called_by_them_everywhere(pame: Pame, small: Path, tmp_path: Path) -> None:
    sections = "[{kind: pame, support: [0.2, 0.4], name: some of it}, {kind: dpsgd, eta: 0.05}]"
    shown = told(pame("run", small, "--backend", "simulate", "--set", f"algorithm={sections}"))
    assert "a sweep of 3 runs over algorithm, algorithm.support" in shown
    [folder] = (tmp_path / "runs").iterdir()
    index = json.loads((folder / "sweep.json").read_text())
    assert index["keys"] == ["algorithm", "algorithm.support"]
    assert [run["values"] for run in index["runs"]] == [
        {"algorithm": "some of it", "algorithm.support": 0.2},
        {"algorithm": "some of it", "algorithm.support": 0.4},
        {"algorithm": "dpsgd"},
    ]
    report = (folder / "report.html").read_text()
    assert "algorithm = some of it · support = 0.2" in report
    assert "None" not in report.split("<script")[0]
    assert json.loads((folder / "provenance.json").read_text())["ended"] is not None
    runs = [json.loads((folder / run["folder"] / "provenance.json").read_text()) for run in index["runs"]]
    assert all(run["command"].startswith("pame run") for run in runs)
