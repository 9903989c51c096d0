import json
from math import inf, nan
from pathlib import Path

import pytest

from orchestrator.errors import CannotWrite
from orchestrator.results import RunFolder, create_folder
from orchestrator.results.summary import FinalFigures, RunSummary
from pame.observe import Evaluation, Record

POINT = Evaluation("iteration", 3, None, 10, 0.5, 0.25, None, {"test_mse": 1.0})
RECORD = Record(1, 3, None, None, 2, 2, 0.5, 0, 0, 1, 10, 1, None)


def test_two_runs_of_the_same_second_get_folders_of_their_own(tmp_path: Path) -> None:
    folders = {create_folder(tmp_path / "runs", "same") for _ in range(5)}
    assert len(folders) == 5
    assert all(folder.is_dir() and "-same" in folder.name for folder in folders)


def test_points_and_records_are_on_the_disk_while_the_run_goes_on(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as run:
        run.recorded([RECORD])
        run.evaluated(POINT)
        assert json.loads((tmp_path / "run" / "curve.jsonl").read_text()) == {
            "by": "iteration", "iteration": 3, "seconds": None, "bytes": 10, "objective": 0.5, "consensus": 0.25,
            "coverage": None, "metrics": {"test_mse": 1.0}, "own": None,
        }  # fmt: skip
        assert (tmp_path / "run" / "records.csv").read_text().splitlines() == [
            "node,iteration,seconds,waited_s,wanted,received,coverage,starved,late,messages,bytes,lost,staleness",
            "1,3,,,2,2,0.5,0,0,1,10,1,",
        ]


def test_records_that_keep_coming_reach_the_disk_every_half_second(tmp_path: Path) -> None:
    time = iter([100.0, 100.0, 100.25, 100.49, 100.5, 100.5, 100.75, 101.25, 101.25, 101.25, 101.25])
    with RunFolder(tmp_path, clock=lambda: next(time)) as run:

        def rows_on_disk() -> int:
            return len((tmp_path / "records.csv").read_text().splitlines()) - 1

        seen = []
        for _ in range(6):
            run.recorded([RECORD])
            seen.append(rows_on_disk())
        assert seen == [1, 1, 1, 4, 4, 6]
        run.recorded([RECORD])
        assert rows_on_disk() == 6
        run.flush()
        assert rows_on_disk() == 7


def test_events_are_on_the_disk_at_once_and_records_with_them(tmp_path: Path) -> None:
    with RunFolder(tmp_path, clock=lambda: 0.0) as run:
        assert not (tmp_path / "events.jsonl").exists()
        run.recorded([RECORD])
        run.recorded([RECORD])
        run.happened({"seconds": 1.5, "what": "joined", "node": 3})
        run.happened({"seconds": inf, "what": "died", "node": 3, "detail": "no heartbeat\nfor 3 s"})
        assert [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()] == [
            {"seconds": 1.5, "what": "joined", "node": 3},
            {"seconds": None, "what": "died", "node": 3, "detail": "no heartbeat\nfor 3 s"},
        ]
        assert len((tmp_path / "records.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_what_is_no_number_in_json_becomes_null(tmp_path: Path, value: float) -> None:
    with RunFolder(tmp_path) as run:
        run.write_summary(RunSummary(final=FinalFigures(value, 1.0, {"test_mse": value})))
    final = json.loads((tmp_path / "summary.json").read_text())["final"]
    assert final == {"objective": None, "consensus": 1.0, "metrics": {"test_mse": None}, "own": None}


def test_a_disk_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="choose another place to write to"):
        create_folder(tmp_path / "file" / "runs", "name")
    with pytest.raises(CannotWrite, match="cannot write to"):
        RunFolder(tmp_path / "file")


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "curve.jsonl").symlink_to("/dev/full")  # every write to it fails: no space left on device
    run = RunFolder(tmp_path)
    with pytest.raises(CannotWrite, match="No space left on device; free some space"):
        run.evaluated(POINT)
    with pytest.raises(CannotWrite):
        run.__exit__(None, None, None)
