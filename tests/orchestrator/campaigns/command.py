"""Campaigns as a user calls them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PAME = str(Path(sys.executable).parent / "pame")
BOUND_S = 180


def call(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [PAME, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=BOUND_S, check=False)


def plain_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Labels and figures beside all else."""
    return [{**row["labels"], **row["figures"], **row} for row in plain_rows(folder)]


def interrupted(folder: Path, *arguments: object) -> str:
    """The page of a campaign that got Ctrl-C after its first run."""
    command = [PAME, *map(str, arguments)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + BOUND_S
        while not any(path.stat().st_size for path in folder.glob("runs/*/rows.jsonl")):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=BOUND_S)
    assert process.returncode == 130, errors.decode()
    [run] = (folder / "runs").iterdir()
    assert rows_of(run)
    return (run / "report.html").read_text()
