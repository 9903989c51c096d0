"""Every campaign, killed in the middle, goes on where it was: nothing is done again, and the result is the same."""

import json
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.command import begun, lines_of, mistake, only_run, told, wait_for, written
from tests.command import call as call_once
from tests.orchestrator.campaigns.claims.builders import COMPARISON
from tests.orchestrator.campaigns.studies.builders import small_file

BOUND_S = 400
call = partial(call_once, seconds=BOUND_S)
pytestmark = pytest.mark.timeout(1200)  # a campaign three times, on a busy machine

SWEEP = """
nodes: 4
topology: {kind: ring}
problem: {kind: linear, n: 12, samples: 20, test_samples: 50}
algorithm: {kind: dpsgd, eta: 0.05}
stop: {iterations: 60}
seed: [1, 2, 3, 4, 5, 6]
"""
CONDITIONS = """
conditions:
  clean: {}
  loss: {messages: {loss: 30%}}
  cut: {faults: [{kind: link-down, links: all, at: {iteration: 2}, for: {iterations: 3}}]}
"""
CAMPAIGNS = {
    "run": (["sweep.yaml", "--backend", "simulate"], "sweep.json"),
    "compare": (["compare.yaml", "--seeds", "3"], "compare.json"),
    "compare in conditions": (["conditions.yaml", "--seeds", "3"], "compare.json"),
    "study": (["stragglers", "small.yaml", "--quick", "--backend", "simulate", "--seeds", "2"], "verdict.json"),
    "claims": (["--only", "connectivity", "--seeds", "1"], "claims.json"),
}


def result_of(path: Path) -> Any:
    """Without what is different every time."""
    content = json.loads(path.read_text())
    content.pop("wall_seconds", None)
    return content


def prepare(folder: Path) -> Path:
    folder.mkdir()
    (folder / "sweep.yaml").write_text(SWEEP)
    (folder / "compare.yaml").write_text(COMPARISON)
    (folder / "conditions.yaml").write_text(COMPARISON + CONDITIONS)
    small_file(folder)
    return folder


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_killed_in_the_middle_a_campaign_goes_on_and_ends_as_without_a_break(tmp_path: Path, campaign: str) -> None:
    arguments, result = CAMPAIGNS[campaign]
    verb = campaign.partition(" ")[0]
    whole, broken = prepare(tmp_path / "whole"), prepare(tmp_path / "broken")
    expected = whole / told(call(whole, verb, *arguments, "-q")).strip()
    with begun(broken, verb, *arguments, "-q") as process:
        wait_for(lambda: sum(path.read_text().count("\n") for path in broken.glob("runs/*/rows.jsonl")) >= 3, process)
    folder = only_run(broken)
    text = (folder / "rows.jsonl").read_text()
    known = len(text[: text.rfind("\n") + 1].splitlines())
    assert 3 <= known < len(lines_of(expected / "rows.jsonl")), "it was killed too late"
    (folder / "rows.jsonl").write_text(text + '{"stage": "cut in the mid')
    listed = json.loads(call(broken, "runs", "--json").stdout)
    assert [(entry["status"], entry["runs"]) for entry in listed] == [("broken off", known)]

    told(call(broken, verb, "--resume", folder.relative_to(broken), "-q"))
    assert result_of(folder / result) == result_of(expected / result)
    assert (folder / "rows.jsonl").read_text().startswith(text[: text.rfind("\n") + 1]), "finished cells are kept"
    assert [row["key"] for row in sorted(lines_of(folder / "rows.jsonl"), key=place)] == [
        row["key"] for row in sorted(lines_of(expected / "rows.jsonl"), key=place)
    ], "every cell once"
    page = (folder / "report.html").read_text()
    assert "not complete" not in page
    if verb != "run":  # of a sweep, the page is made from the run folders
        (folder / "report.html").unlink()
        assert call(broken, "report", folder.name).returncode == 0
        assert (folder / "report.html").read_text() == page


def place(row: dict[str, Any]) -> str:
    return json.dumps([row["stage"], row["labels"], row["seed"]], sort_keys=True)


def test_what_is_done_is_not_done_again_and_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = prepare(tmp_path / "here")
    done = call(folder, "run", "sweep.yaml", "--backend", "simulate", "-q")
    out = done.stdout.strip()
    written = {path: path.stat().st_mtime_ns for path in (folder / out).glob("*/summary.json")}
    assert len(written) == 6
    assert call(folder, "run", "--resume", out, "-q").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in written} == written
    refused = call(folder, "run", "--resume", out, "--seed", "7")
    assert (refused.returncode, "leave seed out" in refused.stderr) == (2, True)
    assert "holds no campaign of `pame study`, but one of `pame run`" in call(folder, "study", "--resume", out).stderr
    (folder / "sweep.yaml").write_text(SWEEP.replace("0.05", "0.06"))
    line = mistake(call(folder, "run", "--resume", out))
    assert f"sweep.yaml is not what it was when {out} began: put it back, or begin anew" in line


def test_a_sweep_on_processes_has_the_same_nodes_for_all_runs_and_goes_on_after_a_break(tmp_path: Path) -> None:
    folder = prepare(tmp_path / "here")
    command = ("run", "sweep.yaml", "--backend", "local", "--set", "seed=[1, 2, 3]", "-q")
    with begun(folder, *command) as process:
        wait_for(lambda: written(folder, "runs/*/rows.jsonl"), process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=BOUND_S)
    assert process.returncode in (0, 130), "it may have been over"
    out = only_run(folder)
    known = [row["labels"]["seed"] for row in lines_of(out / "rows.jsonl")]
    assert json.loads((out / "sweep.json").read_text())["runs"][0]["status"] == "finished"
    assert call(folder, "run", "--resume", str(out), "-q").returncode == 0
    assert [row["labels"]["seed"] for row in lines_of(out / "rows.jsonl")] == [1, 2, 3]
    assert known == [1, 2, 3][: len(known)]
    assert (out / "nodes.log").is_file(), "of all runs"
    assert [run["status"] for run in json.loads((out / "sweep.json").read_text())["runs"]] == ["finished"] * 3
