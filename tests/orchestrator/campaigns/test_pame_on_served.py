"""Sweeps and comparisons on the nodes of an orchestrator that somebody serves."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import call, lines_of, told
from tests.orchestrator.campaigns.claims.builders import COMPARISON
from tests.orchestrator.campaigns.command import served
from tests.orchestrator.campaigns.test_pame_resume import SWEEP

pytestmark = pytest.mark.timeout(900)


def rows_of(folder: Path, stage: str) -> list[dict[str, Any]]:
    return [row for row in lines_of(folder / "rows.jsonl") if row["stage"] == stage]


def test_a_sweep_and_a_comparison_run_on_served_nodes_and_end_in_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    (tmp_path / "compare.yaml").write_text(COMPARISON)
    swept = ("sweep.yaml", "--set", "seed=[1, 2]")
    with served(tmp_path, 5) as on:
        sweep = call(tmp_path, "run", *swept, *on, "-q", "--out", "here")
        compared = call(tmp_path, "compare", "compare.yaml", "--quick", *on, "-q", "--out", "here")
        crowd = call(tmp_path, "run", *swept, *on, "-q", "--set", "nodes=[6, 7]")
    assert "7 nodes are needed and 5 have joined" in crowd.stderr
    folder = tmp_path / told(sweep).strip()
    rows = rows_of(folder, "runs")
    assert [(row["backend"], row["status"]) for row in rows] == [("served", "finished")] * 2
    alone = call(tmp_path, "run", *swept, "--backend", "simulate", "-q")
    known = {row["seed"]: row for row in rows_of(tmp_path / alone.stdout.strip(), "runs")}
    for row in rows:
        expected = [point["objective"] for point in known[row["seed"]]["curve"]]
        assert [point["objective"] for point in row["curve"]] == expected
    index = json.loads((folder / "sweep.json").read_text())
    assert [run["status"] for run in index["runs"]] == ["finished"] * 2
    assert all((folder / run["folder"] / "report.html").is_file() for run in index["runs"])

    folder = tmp_path / told(compared).strip()
    real, simulated = rows_of(folder, "real nodes"), rows_of(folder, "comparison")
    assert {row["backend"] for row in real} == {"served"}
    before = {json.dumps(row["labels"]): row for row in simulated}
    for row in real:
        there = {point["iteration"]: point for point in before[json.dumps(row["labels"])]["curve"]}
        for point in row["curve"]:
            assert point["metrics"]["nodes_objective"] == there[point["iteration"]]["metrics"]["nodes_objective"]
    assert json.loads((folder / "compare.json").read_text())["backend"] == "served"
