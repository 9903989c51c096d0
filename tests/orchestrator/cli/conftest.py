"""The command as a user calls it."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from orchestrator.cli import main
from tests.command import call
from tests.orchestrator.cli.harness import SMALL, Pame


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def pame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pame:
    """The command in this process: a second faster than the real one."""

    def here(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = ["pame", *map(str, arguments)]
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as exit_:
            main()
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(command, int(exit_.value.code or 0), shown.out, shown.err)

    return here


@pytest.fixture
def pame_process(tmp_path: Path) -> Pame:
    return partial(call, tmp_path, seconds=90)
