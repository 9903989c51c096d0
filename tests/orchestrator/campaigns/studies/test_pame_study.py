"""`pame study` as a user calls it."""

import json
from pathlib import Path

import pytest

from tests.command import call, mistake, told
from tests.orchestrator.campaigns.command import interrupted, rows_of, served
from tests.orchestrator.campaigns.studies.builders import small_file

pytestmark = pytest.mark.timeout(400)  # a grid takes its time on a busy machine


def test_a_quick_study_predicts_a_grid_and_measures_two_cells_on_the_same_nodes(tmp_path: Path) -> None:
    shown = told(call(tmp_path, "study", "stragglers", small_file(tmp_path), "--quick"))
    [folder] = (tmp_path / "runs").iterdir()
    rows = rows_of(folder)
    predicted = {(row["policy"], row["condition"]): row for row in rows if row["stage"] == "grid"}
    measured = [row for row in rows if row["backend"] == "local"]
    assert len(predicted) == 14
    assert [row["policy"] for row in measured] == ["pame-all-long", "dpsgd-long"]
    assert all(predicted["pame-all-long", condition]["left"] < 0.2 for condition in ("none", "30-at-10x"))
    for row in measured:
        assert row["status"] == "finished"
        assert len(row["struck"]) == 2
        assert len(row["own"]) == 5
        assert 0 <= row["waiting"] <= 1
        assert row["struck"] == predicted[row["policy"], row["condition"]]["struck"]
    places = sorted((folder / "real").glob("*/summary.json"))
    assert len(places) == 2
    page = (folder / "report.html").read_text()
    assert page.count("predicted ") >= 2 * 8, "below every figure of both cells"
    verdict = json.loads((folder / "verdict.json").read_text())
    assert {found["verdict"] for found in verdict["predicted"]} == {"a look"}, "one seed"
    assert {found["criterion"] for found in verdict["predicted"]} >= {"slow nodes' data is still heard"}
    assert [each["algorithm"] for each in verdict["tuned"]] == ["pame", "dpsgd"]
    assert all(5 <= len(each["tried"]) <= 8 for each in verdict["tuned"])
    assert "slow nodes' data is still heard" in shown.replace("\n", " ")
    assert "1 seed: a look, never a verdict" in shown
    assert f"report: {folder.relative_to(tmp_path)}/report.html" in shown
    assert "The claim: PaME is robust to stragglers" in shown


def test_the_simulator_alone_is_enough_for_a_verdict_and_quiet_prints_the_folder(tmp_path: Path) -> None:
    arguments = ("link-failure", small_file(tmp_path), "--quick", "--backend", "simulate", "--seeds", 2, "--quiet")
    shown = told(call(tmp_path, "study", *arguments))
    [line] = shown.splitlines()
    rows = [row for row in rows_of(tmp_path / line) if row["stage"] == "grid"]
    assert len(rows) == 2 * 14
    assert {row["seed"] for row in rows} == {1, 2}
    assert not (tmp_path / line / "real").exists()
    assert "none ran" in (tmp_path / line / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("thunder",), "there is no study 'thunder'; use one of: stragglers, link-failure"),
        (("stragglers", "--backend", "moon"), "a study runs on local, netns or simulate, not on 'moon'"),
        (("stragglers", "nothing.yaml"), "nothing.yaml"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    assert words in mistake(call(tmp_path, "study", *arguments))
    assert not (tmp_path / "runs").exists()


def test_interrupted_it_ends_with_a_report_of_what_there_is(tmp_path: Path) -> None:
    page = interrupted(tmp_path, "study", "stragglers", small_file(tmp_path), "--seeds", 20, "--backend", "simulate")
    assert "This study is not complete: interrupted" in page


def test_the_chosen_cells_run_on_the_nodes_of_a_served_orchestrator(tmp_path: Path) -> None:
    with served(tmp_path, 5) as on:
        told(call(tmp_path, "study", "stragglers", small_file(tmp_path), "--quick", *on, "--out", "here"))
    [folder] = (tmp_path / "here").iterdir()
    measured = [row for row in rows_of(folder) if row["backend"] == "served"]
    assert [row["policy"] for row in measured] == ["pame-all-long", "dpsgd-long"]
    assert all(row["status"] == "finished" and row["left"] is not None for row in measured)
    assert all(row["health"] for row in measured)
    assert all("waiting" not in row for row in measured), "only the curve is told from afar"
