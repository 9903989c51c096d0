"""`pame report` on real run folders: whole, broken off, and cut at any byte."""

import csv
import json
import os
import shutil
from io import StringIO
from pathlib import Path

import pytest

from orchestrator.report import ReportError, write_report
from orchestrator.results.read import read_run
from pame.randomness import Key, Purpose, integers
from tests.command import begun, call, mistake, only_run, told, wait_for, written
from tests.orchestrator.cli.harness import SMALL, Pame

FILES = ("experiment.yaml", "topology.json", "curve.jsonl", "records.csv", "links.csv", "events.jsonl", "summary.json")
CASES = 150
WHOLE, REMOVED = 0, 1
"""Of five draws two, so that most files of a case are cut."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run with a clock."""
    root = tmp_path_factory.mktemp("original")
    (root / "small.yaml").write_text(SMALL)
    clock = ("--set", "compute={step: 10ms}", "--set", "links={delay: 5ms}")
    return root / told(call(root, "run", "small.yaml", "-q", "--backend", "simulate", *clock)).strip()


@pytest.fixture
def finished(original: Path, tmp_path: Path) -> Path:
    """A copy of it where `pame` looks for runs."""
    return Path(shutil.copytree(original, tmp_path / "runs" / original.name))


def test_a_folder_cut_at_any_bytes_gives_a_report_or_one_sentence(finished: Path, tmp_path: Path) -> None:
    events = [{"seconds": 0.1 * number, "what": "joined", "node": number} for number in range(6)]
    (finished / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    whole = {name: (finished / name).read_bytes() for name in FILES}
    written, salvaged = 0, 0
    for case in range(CASES):
        folder = tmp_path / "cut" / str(case)
        folder.mkdir(parents=True)
        for name, content, fate, place in zip(
            whole, whole.values(), integers(Key(case, Purpose.TRUTH), len(whole), 5).tolist(),
            integers(Key(case, Purpose.GRAPH), len(whole), 1 << 32).tolist(), strict=True,
        ):  # fmt: skip
            if fate != REMOVED:
                end = len(content) if fate == WHOLE else place * (len(content) + 1) >> 32
                (folder / name).write_bytes(content[:end])
        try:
            page = write_report(folder).read_text(encoding="utf-8")
        except ReportError:
            continue
        written += 1
        assert page.startswith("<!doctype html>")
        assert page.rstrip().endswith("</html>")
        summary = read_run(folder).summary
        if summary.status == "broken off":
            salvaged += 1
            assert "broken off" in page
            assert summary.bytes.total == bytes_told(folder), case
    assert written >= CASES - 5
    assert salvaged >= CASES // 2


def bytes_told(folder: Path) -> float | None:
    """By hand: the bytes of all whole rows of records.csv, else of the last whole point of the curve, else unknown."""
    rows = whole_lines(folder / "records.csv")
    if len(rows) > 1:
        return sum(int(row["bytes"]) for row in csv.DictReader(StringIO("".join(rows))))
    told: float | None = None
    for line in whole_lines(folder / "curve.jsonl"):
        told = json.loads(line)["bytes"]
    return told


def whole_lines(path: Path) -> list[str]:
    """The lines that have an end; a last point of a curve that lacks nothing but its end counts as well."""
    if not path.exists():
        return []
    lines = path.read_bytes().decode().splitlines(keepends=True)
    kept = [line for line in lines if line.endswith(("\n", "\r"))]
    return kept + [line for line in lines[len(kept) :] if line.startswith("{") and line.endswith("}}")]


def test_a_run_killed_outright_has_a_report_of_what_it_wrote(pame: Pame, small: Path, tmp_path: Path) -> None:
    endless = ("--backend", "simulate", "--set", "stop.iterations=10000000")
    with begun(tmp_path, "run", small, "-q", *endless) as process:
        wait_for(lambda: any(path.stat().st_size > 1000 for path in written(tmp_path)), process)
    folder = only_run(tmp_path)
    age(folder, seconds=4)
    [listed] = json.loads(pame("runs", "--json").stdout)
    assert (listed["status"], listed["algorithm"], listed["nodes"]) == ("broken off", "pame", 6)
    assert listed["iterations"] > 0
    page = (tmp_path / told(pame("report", "last")).strip()).read_text(encoding="utf-8")
    assert "This run broke off: the orchestrator ended before the run did" in page


def age(folder: Path, seconds: float) -> None:
    """As if the files had been written that much earlier."""
    for path in folder.iterdir():
        then = path.stat().st_mtime - seconds
        os.utime(path, (then, then))


def test_a_run_under_way_is_reported_as_going_on(finished: Path, pame: Pame, tmp_path: Path) -> None:
    (finished / "summary.json").unlink()
    (finished / "curve.jsonl").touch()
    page = (tmp_path / told(pame("report", finished.name)).strip()).read_text(encoding="utf-8")
    assert "This run is going on: it has not ended yet" in page
    assert "broken off" not in page


@pytest.mark.parametrize("way", ["path", "name", "last", "here"])
def test_a_run_is_found_by_path_by_name_and_as_the_last_one(
    finished: Path, pame: Pame, tmp_path: Path, way: str
) -> None:
    older = finished.with_name("20200101-000000-older")
    shutil.copytree(finished, older)
    for folder in (finished, older):
        (folder / "report.html").write_text("old")
    given = {"path": finished, "name": finished.name, "last": "last", "here": f"runs/{finished.name}/."}[way]
    assert (tmp_path / told(pame("report", given)).strip()).samefile(finished / "report.html")
    assert len((finished / "report.html").read_text(encoding="utf-8")) > 10_000
    assert (older / "report.html").read_text() == "old"


def test_a_sweep_is_reported_as_a_sweep(finished: Path, pame: Pame) -> None:
    sweep = finished.with_name("sweep")
    shutil.copytree(finished, sweep / "01-seed=1")
    runs = [{"folder": "01-seed=1", "values": {"seed": 1}, "status": "finished"}]
    (sweep / "sweep.json").write_text(json.dumps({"name": "seeds", "keys": ["seed"], "runs": runs}))
    assert told(pame("report", "sweep")).strip() == "runs/sweep/report.html"
    assert "PaME sweep" in (sweep / "report.html").read_text(encoding="utf-8")


def test_an_unknown_name_is_answered_with_the_nearest_ones(finished: Path, pame: Pame) -> None:
    shutil.copytree(finished, finished.with_name("20200101-000000-entirely-else"))
    line = mistake(pame("report", "smal"))
    assert line.startswith(f"error: there is no run 'smal' below runs; the nearest names are: {finished.name}")


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("last", "there is no run 'last', nor any other below runs: make one with `pame run`"),
        ("x" * 300, "File name too long"),
        (".", "holds no run: give a folder that a run or a sweep has left"),
    ],
)
def test_what_is_no_run_gives_one_line_with_the_fix(pame: Pame, wanted: str, answer: str) -> None:
    assert answer in mistake(pame("report", wanted))


def test_a_sweep_that_broke_off_points_to_the_runs_below_it(finished: Path, pame: Pame) -> None:
    sweep = finished.with_name("sweep")
    shutil.copytree(finished, sweep / "01-seed=1")
    line = mistake(pame("report", "sweep"))
    assert "runs are below it: give one of them, as " in line
    assert line.rstrip().endswith("/runs/sweep/01-seed=1.")
