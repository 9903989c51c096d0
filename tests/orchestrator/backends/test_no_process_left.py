"""`pame run` in a process of its own, ended in every way: it says how it ended, and nothing is left of it."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.exit_codes import ExitCode
from tests.harness import poll
from tests.orchestrator.backends.harness import MARK, events_of, marked, new_mark

ROOT = Path(__file__).parents[3]
EXPERIMENT = {
    "name": "fragile",
    "nodes": 4,
    "topology": {"kind": "complete"},
    "problem": {"kind": "linear", "n": 20, "samples": 10, "test_samples": 5},
    "period": 1,
    "compute": {"step": "10ms"},
    "exchange": {"patience": "500ms", "exclude_after": 2},
    "stop": {"iterations": 100_000, "seconds": "90s"},
}
NURSERY = "node.fork_server"


class Pame:
    """The command under test and all its processes."""

    def __init__(self, folder: Path, prefix: tuple[str, ...] = (), before: Callable[[], None] | None = None) -> None:
        self.runs = folder / "runs"
        self.mark = new_mark()
        self._file = folder / "fragile.yaml"
        self._prefix = prefix
        self._before = before
        self.process: subprocess.Popen[str] | None = None

    def start(self, **changes: Any) -> None:
        self._file.write_text(json.dumps({**EXPERIMENT, **changes}))
        command = [sys.executable, "-c", "from orchestrator.cli import main; main()", "run", str(self._file)]
        self.process = subprocess.Popen(
            [*self._prefix, *command, "--quiet", "--out", str(self.runs)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, MARK: self.mark},
            preexec_fn=self._before,
            start_new_session=True,
        )

    @property
    def folder(self) -> Path | None:
        return next(iter(self.runs.glob("*-fragile")), None) if self.runs.exists() else None

    def events(self) -> list[str]:
        return [event["what"] for event in events_of(self.folder)] if self.folder else []

    def nurseries(self) -> list[int]:
        return [pid for pid, command in marked(self.mark).items() if NURSERY in command]

    def is_running(self) -> bool:
        curve = self.folder / "curve.jsonl" if self.folder else None
        return curve is not None and curve.exists() and len(curve.read_text().splitlines()) > 2

    def nodes(self) -> list[int]:
        """A fork server's children have its command line; it is the oldest."""
        return sorted(self.nurseries())[1:]

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Wait for it; exit code and standard error."""
        assert self.process is not None
        _, errors = self.process.communicate(timeout=90)
        return self.process.returncode, errors

    def summary(self) -> dict[str, Any]:
        assert self.folder is not None
        assert (self.folder / "report.html").stat().st_size > 0
        summary: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())
        return summary

    def is_gone(self) -> bool:
        return marked(self.mark) == {}

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def pame(tmp_path: Path) -> Iterator[Pame]:
    made = Pame(tmp_path)
    yield made
    made.kill()


def test_ctrl_c_while_nodes_gather_ends_in_order(pame: Pame) -> None:
    """The fork server is frozen, so that no node ever comes."""
    pame.start()
    poll(pame.nurseries)
    os.kill(pame.nurseries()[0], signal.SIGSTOP)
    poll(lambda: pame.folder and (pame.folder / "experiment.yaml").exists())
    pame.signal(signal.SIGINT)
    code, _ = pame.end()
    assert code == ExitCode.INTERRUPTED
    assert pame.summary()["status"] == "interrupted"
    assert pame.is_gone()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_run_ends_it_in_order_with_the_models_so_far(pame: Pame, number: signal.Signals) -> None:
    pame.start()
    poll(pame.is_running)
    pame.signal(number)
    code, _ = pame.end()
    assert code == ExitCode.INTERRUPTED
    summary = pame.summary()
    assert (summary["status"], summary["exact"]) == ("interrupted", False)
    assert summary["iterations"] > 0
    assert sorted(summary["network"]["results"]) == ["0", "1", "2", "3"]
    assert pame.is_gone()


def test_a_killed_orchestrator_takes_everything_with_it_even_a_frozen_node(pame: Pame) -> None:
    pame.start()
    poll(pame.is_running)
    os.kill(pame.nodes()[0], signal.SIGSTOP)
    pame.signal(signal.SIGKILL)
    pame.end()
    poll(pame.is_gone, 30)


def test_a_killed_fork_server_takes_no_node_out_of_sight(pame: Pame) -> None:
    pame.start()
    poll(pame.is_running)
    os.kill(sorted(pame.nurseries())[0], signal.SIGKILL)
    pame.signal(signal.SIGINT)
    code, _ = pame.end()
    assert code == ExitCode.INTERRUPTED
    assert pame.is_gone()


def test_nodes_that_die_in_the_run_are_in_its_summary(pame: Pame) -> None:
    pame.start(stop={"iterations": 200, "seconds": "90s"})
    poll(pame.is_running)
    os.kill(pame.nodes()[0], signal.SIGKILL)
    code, _ = pame.end()
    assert code == ExitCode.DEGRADED  # nobody had planned it
    summary = pame.summary()
    assert (summary["network"]["deaths"], summary["network"]["restarts"]) == (1, 0)
    assert len(summary["network"]["suspects"]) >= 1
    assert summary["exact"] is False
    assert "died" in pame.events()
    assert pame.is_gone()


def test_a_node_that_cannot_start_ends_the_run_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the fork server, and only there, opening a server fails."""
    broken = Pame(tmp_path)
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'node.fork_server' in sys.orig_argv:\n"
        "    import node.process\n"
        "    def crash(*_): raise OSError('no sockets today')\n"
        "    node.process.ExchangeServer.open = crash\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    broken.start()
    try:
        code, errors = broken.end()
        assert code == ExitCode.FAULT
        [line] = errors.splitlines()
        assert "could not start" in line
        assert "no sockets today" in line
        assert broken.is_gone()
    finally:
        broken.kill()


def ends_with_one_line(pame: Pame, start: str, words: str) -> None:
    pame.start()
    try:
        code, errors = pame.end()
        assert code == ExitCode.FAULT
        [line] = errors.splitlines()
        assert line.startswith(start)
        assert words in line
        assert pame.is_gone()
    finally:
        pame.kill()


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))


def test_a_file_that_cannot_grow_ends_the_run_with_one_line(tmp_path: Path) -> None:
    pame = Pame(tmp_path, before=_small_files)
    ends_with_one_line(pame, "error: cannot write to", "free some space")


@pytest.mark.requires("root")
def test_a_full_disk_ends_the_run_with_one_line(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    script = f'mount -t tmpfs -o size=160k none "{runs}" && exec "$@"'
    pame = Pame(tmp_path, prefix=("unshare", "--mount", "sh", "-c", script, "sh"))
    ends_with_one_line(pame, "error: cannot write to", "No space left on device; free some space")
