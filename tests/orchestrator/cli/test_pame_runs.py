"""`pame runs`: the table, the JSON, and nothing to show."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.command import PAME, told
from tests.orchestrator.cli.harness import Pame


def make(root: Path, name: str, **facts: object) -> None:
    folder = root / "runs" / name
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(facts))


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A finished run, a sweep and a run that broke off, from old to new."""
    make(
        tmp_path, "20250101-000000-old", status="finished", health={"state": "sound"}, backend="simulate",
        algorithm="pame", nodes=32, iterations=300, final={"objective": 0.125}, bytes={"total": 3 * 1024**2},
        seconds=9.5, wall_seconds=61.25,
    )  # fmt: skip
    sweep = tmp_path / "runs" / "20250102-000000-many"
    sweep.mkdir()
    runs = [{"folder": name, "values": {}, "status": "finished"} for name in "abcd"]
    (sweep / "sweep.json").write_text(json.dumps({"name": "many", "keys": [], "runs": runs}))
    broken = tmp_path / "runs" / "20250103-000000-new"
    broken.mkdir()
    (broken / "experiment.yaml").write_text("nodes: 8\nalgorithm:\n  kind: dpsgd\n")
    return tmp_path


@pytest.mark.usefixtures("three")
def test_the_table_has_a_line_per_run_with_the_newest_first(pame: Pame) -> None:
    heads, new, many, old = pame("runs").stdout.splitlines()
    assert heads.split("  ")[0] == "name"
    columns = ("when", "status", "health", "backend", "algorithm", "nodes", "iterations", "f(mean model)", "sent")
    for words in (*columns, "duration"):
        assert words in heads
    assert old.split() == [
        "20250101-000000-old", "2025-01-01", "00:00", "finished", "sound", "simulate", "PaME", "32", "300", "0.125",
        "3", "MiB", "61.25", "s",
    ]  # fmt: skip
    assert many.split()[:7] == ["20250102-000000-many", "2025-01-02", "00:00", "sweep", "of", "4", "runs"]
    assert new.split() == [
        "20250103-000000-new", "2025-01-03", "00:00", "broken", "off", "–", "–", "D-PSGD", "8", "–", "–", "–", "–",
    ]  # fmt: skip


@pytest.mark.usefixtures("three")
def test_json_has_the_numbers_as_they_are(pame: Pame) -> None:
    new, many, old = json.loads(pame("runs", "--json").stdout)
    assert old == {
        "name": "20250101-000000-old", "path": "runs/20250101-000000-old", "when": "2025-01-01T00:00:00",
        "status": "finished", "health": "sound", "runs": None, "backend": "simulate", "algorithm": "pame", "nodes": 32,
        "iterations": 300, "objective": 0.125, "bytes": 3 * 1024**2, "seconds": 9.5, "wall_seconds": 61.25,
        "kind": None, "accuracy": None,
    }  # fmt: skip
    assert (many["runs"], many["status"]) == (4, "finished")
    assert new["status"] == "broken off"


@pytest.mark.parametrize("there", [False, True])
def test_nothing_to_list_is_said_in_one_line(pame: Pame, tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "mine").mkdir()
    shown = told(pame("runs", "--out", "mine"))
    assert shown.splitlines() == ["there are no runs below mine yet: make one with `pame run`"]
    assert json.loads(pame("runs", "--out", "mine", "--json").stdout) == []


def test_a_name_may_look_like_markup(pame: Pame, tmp_path: Path) -> None:
    make(tmp_path, "[red]", status="[/bold]", algorithm="[x]")
    line = pame("runs").stdout.splitlines()[1]
    assert line.startswith("[red] ")
    assert "[/bold]" in line
    assert "[x]" in line


def test_a_narrow_terminal_says_which_columns_it_has_no_room_for(three: Path) -> None:
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment |= {"TERM": "dumb", "NO_COLOR": "1"}
    subprocess.run([PAME, "runs"], cwd=three, stdout=terminal, env=environment, timeout=60, check=True)
    os.close(terminal)
    shown = os.read(master, 100_000).decode().splitlines()
    os.close(master)
    assert all(len(line) <= 80 for line in shown[:-1])
    assert [line.split()[0] for line in shown[1:4]] == [
        "20250103-000000-new", "20250102-000000-many", "20250101-000000-old",
    ]  # fmt: skip
    assert shown[-1].startswith("not enough room for: when, ")
