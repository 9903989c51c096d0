"""The command as a user calls it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from orchestrator.backends.processes import NodeProcesses
from orchestrator.cli import main
from tests.command import TOKEN, Service, call
from tests.orchestrator.cli.harness import SMALL, Pame, Serve, Simulate, simulating


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


@pytest.fixture
def simulate(pame: Pame, small: Path) -> Simulate:
    return simulating(pame, small)


@pytest.fixture
def simulate_process(pame_process: Pame, small: Path) -> Simulate:
    return simulating(pame_process, small)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients have that of the service."""
    monkeypatch.setenv("PAME_TOKEN", TOKEN)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Begins a service with so many nodes; what still runs when the test is over is killed."""
    with ExitStack() as stack:

        def begin(*arguments: object, nodes: int = 0) -> Service:
            service = Service(tmp_path, *arguments)
            stack.callback(service.kill)
            if nodes:
                service.join(stack.enter_context(NodeProcesses(tmp_path / "nodes.log")), range(nodes))
            return service

        yield begin


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[NodeProcesses]:
    with NodeProcesses(tmp_path / "nodes.log") as nodes:
        yield nodes
