"""What a folder holds, as frames: the numbers of its files, with labels that take no room."""

import json
from pathlib import Path

import pandas as pd
import pytest

import pame_testbed as pt
from tests.orchestrator.exports.conftest import comparison, run, sweep

__all__ = ["comparison", "run", "sweep"]


def test_a_folder_is_a_run_a_sweep_or_a_comparison(run: Path, sweep: Path, comparison: Path) -> None:
    found = [type(pt.load(folder)) for folder in (run, sweep, comparison)]
    assert found == [pt.Run, pt.SweepRuns, pt.ComparisonRuns]
    assert pt.load("last", out=run.parent).folder == run


def test_frames_have_the_numbers_of_the_files_and_labels_are_categories(run: Path) -> None:
    loaded = pt.load(run)
    assert isinstance(loaded, pt.Run)
    points = [json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()]
    assert loaded.curve["consensus"].tolist() == [point["consensus"] for point in points]
    assert (loaded.curve["gap"] == loaded.curve["objective"] - loaded.curve["f_star"]).all()
    assert set(loaded.curve["f_star"]) == {loaded.f_star}
    raw = pd.read_csv(run / "records.csv")
    pd.testing.assert_frame_equal(loaded.records[list(raw.columns)], raw, check_dtype=False)
    pd.testing.assert_frame_equal(
        loaded.links[["sender", "receiver", "bytes"]], pd.read_csv(run / "links.csv")[["sender", "receiver", "bytes"]]
    )
    assert str(loaded.records["algorithm"].dtype) == "category"
    assert loaded.faults["fault"].tolist() == ["partition"]
    assert (
        loaded.summary.loc[0, "final.objective"] == json.loads((run / "summary.json").read_text())["final"]["objective"]
    )


def test_a_sweep_has_its_runs_and_their_tables_below_each_other(sweep: Path) -> None:
    loaded = pt.load(sweep)
    assert isinstance(loaded, pt.SweepRuns)
    assert len(loaded.runs) == len(loaded.summary) == 4
    below = pd.concat([run.curve["gap"] for run in loaded.runs], ignore_index=True)
    assert loaded.curve["gap"].tolist() == below.tolist()
    ends = loaded.curve[loaded.curve["by"] == "iteration"].groupby(["algorithm.support", "seed"])["gap"].last()
    assert dict(ends) == dict(loaded.summary.set_index(["algorithm.support", "seed"])["gap"])


def test_a_comparison_is_a_frame_to_group_by(comparison: Path) -> None:
    loaded = pt.load(comparison)
    assert isinstance(loaded, pt.ComparisonRuns)
    published = loaded.curve[loaded.curve["view"] == "as-published"]
    left = published.groupby("algorithm")["left"].min()
    assert left["pame"] == pytest.approx(0.8**40)
    assert left["dpsgd"] == pytest.approx(0.9**40)
    assert set(loaded.tuning["algorithm.eta"]) == {0.02, 0.05}


def test_a_notebook_shows_the_report_in_a_frame_and_figures_as_pictures(run: Path, tmp_path: Path) -> None:
    loaded = pt.load(run)
    shown = loaded._repr_html_()
    assert shown.startswith("<iframe")
    assert "srcdoc=" in shown
    assert shown.count('"') == 6  # nothing of the page ends its attribute
    figure = loaded.figure(x="iteration", y="consensus")
    assert figure._repr_svg_().startswith("<svg")
    assert figure.save(tmp_path / "f.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(pt.PameError, match="has no figures 'foo'"):
        loaded.figure(y="foo")


def test_several_runs_are_drawn_into_one_figure(sweep: Path, run: Path) -> None:
    drawn = pt.figure(pt.load(sweep), run, x="bytes", y="gap", where={"seed": [1, 3, 4]})
    labels = {row["line"] for row in drawn.drawn.spec["data"]["values"]}
    assert len(labels) == 3
