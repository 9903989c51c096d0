"""The engine of campaigns: stages, equal experiments, what a break costs, and what it notices."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.campaigns.conduct import conduct, report_anew
from orchestrator.campaigns.rows import CannotResume, RowFile
from orchestrator.errors import CannotWrite
from orchestrator.results.campaign_record import is_under_way, read_record
from tests.command import lines_of
from tests.orchestrator.campaigns.builders import BASE, RECORD, SmallCampaign, Watcher

pytestmark = [pytest.mark.edge, pytest.mark.timeout(300)]  # processes start slowly on a busy machine


def conducted(folder: Path, watcher: Watcher | None = None) -> str:
    """What the small campaign finds, or has found, in this folder."""
    return conduct(SmallCampaign(folder / "ran"), RECORD, folder, watcher or Watcher())


def ran(folder: Path) -> int:
    return len((folder / "ran").read_text().splitlines())


def test_stages_follow_each_other_and_equal_experiments_run_once(tmp_path: Path) -> None:
    watcher = Watcher()
    outcome = conducted(tmp_path, watcher)
    rows = lines_of(tmp_path / "rows.jsonl")
    assert [row["stage"] for row in rows] == ["seeds"] * 3 + ["half"] * 2
    assert ran(tmp_path) == 4, "`same` is one of the first stage"
    assert watcher.begun == [("seeds", 3, 0), ("half", 2, 1)]
    assert {(row["labels"]["name"], row["backend"], row["status"]) for row in rows} == {
        (name, "simulate", "finished") for name in ("first", "half", "same")
    }
    points = rows[0]["curve"]
    assert [point["iteration"] for point in points] == [0, 5, 10, 15, 20]
    assert all(point["rounds"] == point["iteration"] for point in points)
    assert outcome == (tmp_path / "report.html").read_text()
    record = read_record(tmp_path)
    assert record is not None
    assert (record.verb, record.status) == ("small", "finished")
    assert record.seconds > 0


@pytest.mark.parametrize("patience", [1, 3, 4])
def test_interrupted_it_goes_on_where_it_was_and_ends_as_without_a_break(tmp_path: Path, patience: int) -> None:
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    for folder in (broken, whole):
        folder.mkdir()
    first = conducted(broken, Watcher(patience))
    assert first.endswith("interrupted")
    assert len(lines_of(broken / "rows.jsonl")) >= patience
    before, known = ran(broken), len(lines_of(broken / "rows.jsonl"))
    second = conducted(broken)
    assert ran(broken) - before <= 4 - min(known, 4), "nothing that was known ran again"
    assert second == conducted(whole)
    assert len(lines_of(broken / "rows.jsonl")) == len(lines_of(whole / "rows.jsonl")) == 5


def test_a_last_line_that_was_cut_is_dropped_and_its_cell_runs_again(tmp_path: Path) -> None:
    outcome = conducted(tmp_path)
    path = tmp_path / "rows.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:-1])  # all but the end of the line
    (tmp_path / "ran").unlink()
    assert conducted(tmp_path) == outcome
    assert ran(tmp_path) == 2, "the third seed, and half the step"
    assert len(lines_of(tmp_path / "rows.jsonl")) == 5


def test_an_experiment_that_changed_since_is_noticed_and_nothing_is_touched(tmp_path: Path) -> None:
    conducted(tmp_path)
    before, record = files(tmp_path), read_record(tmp_path)
    assert record is not None
    changed = SmallCampaign(tmp_path / "ran", base=BASE.replace("0.05", "0.06"))
    with pytest.raises(CannotResume, match="the experiment of name first, seed 1 is another one now"):
        conduct(changed, replace(RECORD, status="finished", seconds=record.seconds), tmp_path, Watcher())
    assert files(tmp_path) == before


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.name != "provenance.json"}


def test_the_page_can_be_made_anew_from_the_rows(tmp_path: Path) -> None:
    first = conducted(tmp_path, Watcher(4))
    (tmp_path / "report.html").unlink()
    report_anew(SmallCampaign(tmp_path / "ran"), replace(RECORD, status="interrupted"), tmp_path)
    assert (tmp_path / "report.html").read_text() == first


def test_two_processes_do_not_write_the_same_rows(tmp_path: Path) -> None:
    assert not is_under_way(tmp_path)
    with RowFile(tmp_path).appending():
        assert is_under_way(tmp_path)
        with pytest.raises(CannotResume, match="is still under way"):
            conducted(tmp_path)
    assert not is_under_way(tmp_path)


def test_a_folder_that_cannot_be_written_to_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="choose another place"):
        conducted(tmp_path / "nowhere")
