import fcntl
import json
import os
from datetime import datetime
from pathlib import Path

import pytest

from orchestrator.results import UnknownRun, find_run, list_runs

NOW = 1_800_000_000.0


def make(root: Path, name: str, files: dict[str, str], seconds_ago: float = 100.0) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / file).write_text(text)
        os.utime(folder / file, (NOW - seconds_ago, NOW - seconds_ago))
    os.utime(folder, (NOW - seconds_ago, NOW - seconds_ago))
    return folder


def test_the_newest_comes_first_by_the_time_in_the_name_or_else_of_the_folder(tmp_path: Path) -> None:
    then = datetime.fromtimestamp(NOW - 60)
    for name in ("20260101-000000-a", "20260101-000000-a-2", "20260101-000000-a-10", "20251231-235959-z"):
        make(tmp_path, name, {"summary.json": "{}"})
    make(tmp_path, f"{then:%Y%m%d-%H%M%S}-newest", {"summary.json": "{}"}, seconds_ago=5000)
    make(tmp_path, "copied", {"summary.json": "{}"}, seconds_ago=300)
    make(tmp_path, "20269999-000000-no-date", {"summary.json": "{}"}, seconds_ago=400)
    assert [entry.name for entry in list_runs(tmp_path, NOW)] == [
        f"{then:%Y%m%d-%H%M%S}-newest", "copied", "20269999-000000-no-date",
        "20260101-000000-a-10", "20260101-000000-a-2", "20260101-000000-a", "20251231-235959-z",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "seconds_ago", "status"),
    [
        ({"summary.json": '{"status": "diverged"}'}, 1.0, "diverged"),
        ({"summary.json": '{"status": "finis'}, 100.0, "broken off"),
        ({"summary.json": "[]", "records.csv": ""}, 100.0, "broken off"),
        ({"curve.jsonl": "", "records.csv": ""}, 3.5, "broken off"),
        ({"curve.jsonl": ""}, 2.5, "running"),
        ({"records.csv": ""}, 2.5, "running"),
        ({"experiment.yaml": "name: x\n"}, 1.0, "broken off"),
        ({}, 100.0, "broken off"),
        ({}, 1.0, "running"),
    ],
)
def test_without_a_whole_summary_a_run_is_running_or_broken_off(
    tmp_path: Path, files: dict[str, str], seconds_ago: float, status: str
) -> None:
    make(tmp_path, "20260101-000000-run", files, seconds_ago)
    [entry] = list_runs(tmp_path, NOW)
    assert entry.status == status


def test_a_broken_off_run_tells_what_its_files_hold(tmp_path: Path) -> None:
    point = {"by": "iteration", "iteration": 40, "seconds": 1.5, "bytes": 900, "objective": 0.25}
    files = {
        "experiment.yaml": "name: x\nnodes: 12\nalgorithm:\n  kind: dpsgd\nperiod: 1",
        "curve.jsonl": json.dumps(point | {"iteration": 20}) + "\n" + json.dumps(point) + '\n{"by": "iter',
    }
    make(tmp_path, "20260101-000000-x", files)
    [entry] = list_runs(tmp_path, NOW)
    assert (entry.algorithm, entry.nodes, entry.backend) == ("dpsgd", 12, None)
    assert (entry.iterations, entry.seconds, entry.bytes, entry.objective) == (40, 1.5, 900, 0.25)
    assert entry.wall_seconds is None


def test_only_the_end_of_a_long_curve_is_read(tmp_path: Path) -> None:
    lines = [json.dumps({"by": "time", "iteration": number, "bytes": 8, "objective": 1.0}) for number in range(5000)]
    make(tmp_path, "20260101-000000-x", {"curve.jsonl": "\n".join(lines) + "\n"})
    [entry] = list_runs(tmp_path, NOW)
    assert entry.iterations == 4999


def test_sweeps_count_their_runs_finished_or_not(tmp_path: Path) -> None:
    runs = [{"folder": "01", "status": "finished"}, {"folder": "02", "status": "diverged"}]
    make(tmp_path, "4-some", {"sweep.json": json.dumps({"runs": runs})}, 1)
    make(tmp_path, "3-all", {"sweep.json": json.dumps({"runs": runs[:1]})}, 2)
    make(tmp_path, "2-cut", {"sweep.json": '{"runs": ['}, 3)
    make(tmp_path / "1-under-way", "01", {"summary.json": "{}"}, 1)
    make(tmp_path / "1-under-way", "02", {"records.csv": ""}, 1)
    make(tmp_path / "0-broken", "01", {"summary.json": "{}", "records.csv": ""}, 1)
    for place, name in enumerate(("1-under-way", "0-broken")):
        os.utime(tmp_path / name, (NOW - 4 - place, NOW - 4 - place))
    assert [(entry.name, entry.runs, entry.status) for entry in list_runs(tmp_path, NOW)] == [
        ("4-some", 2, "1 of 2 finished"), ("3-all", 1, "finished"), ("2-cut", 0, "broken off"),
        ("1-under-way", 2, "running"), ("0-broken", 1, "broken off"),
    ]  # fmt: skip


def test_campaigns_are_listed_with_their_kind_and_the_rows_they_have(tmp_path: Path) -> None:
    rows, record = '{"key": 1}\n{"key": 2}\n{"ke', {"command": "", "arguments": {"backend": "local"}, "seconds": 7.5}
    for place, (verb, status) in enumerate((("study", "finished"), ("compare", "interrupted"), ("claims", "running"))):
        about = json.dumps(record | {"verb": verb, "status": status})
        make(tmp_path, f"{verb}-1", {"campaign.json": about, "rows.jsonl": rows}, place)
    found = {entry.name: entry for entry in list_runs(tmp_path, NOW)}
    assert {name: (entry.kind, entry.status, entry.runs) for name, entry in found.items()} == {
        "study-1": ("study", "finished", 2),
        "compare-1": ("comparison", "interrupted", 2),
        "claims-1": ("claims", "broken off", 2),
    }
    assert (found["study-1"].backend, found["study-1"].wall_seconds) == ("local", 7.5)
    with (tmp_path / "claims-1" / "rows.jsonl").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert {entry.name: entry.status for entry in list_runs(tmp_path, NOW)}["claims-1"] == "running"


def test_what_is_no_run_is_not_listed(tmp_path: Path) -> None:
    make(tmp_path, "notes", {"readme.txt": ""})
    make(tmp_path, "20260101-000000-notes", {"readme.txt": ""})
    (tmp_path / "20260101-000000-file").write_text("")
    assert list_runs(tmp_path, NOW) == []
    assert list_runs(tmp_path / "nowhere", NOW) == []


def test_a_run_is_preferred_to_another_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "runs"
    make(root, "mine", {"summary.json": "{}"})
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_run("mine", root, NOW) == root / "mine"
    make(tmp_path, "other", {"summary.json": "{}"})
    assert find_run("other", root, NOW) == Path("other")
    assert find_run("last", root, NOW) == root / "mine"
    with pytest.raises(UnknownRun, match=r"the nearest names are: mine$"):
        find_run("nothing-like-it", root, NOW)


def test_a_part_of_a_name_that_fits_one_run_names_it(tmp_path: Path) -> None:
    names = ("20261119-100000-partition", "20261119-110000-partition", "20261119-120000-message-loss")
    for name in names:
        make(tmp_path, name, {"summary.json": "{}"})
    assert find_run("message-loss", tmp_path, NOW) == tmp_path / names[2]
    assert find_run("110000", tmp_path, NOW) == find_run("110000-partition", tmp_path, NOW) == tmp_path / names[1]
    with pytest.raises(UnknownRun, match=rf"'partition' fits 2 runs below .*; the newest: {names[1]}, {names[0]}$"):
        find_run("partition", tmp_path, NOW)
    with pytest.raises(UnknownRun, match="there is no run 'part' below"):
        find_run("part", tmp_path, NOW)
