"""`pame run` in a process of its own, ended in every way: it says how it ended, and nothing is left of it."""

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.exit_codes import ExitCode
from tests.harness import poll
from tests.orchestrator.backends.harness import ROOT, FragileRun, marked
from tests.orchestrator.harness import events_of, summary_of

NURSERY = "node.fork_server"


class Pame(FragileRun):
    """On local processes."""

    def start(self, backend: str = "local", **changes: Any) -> None:
        super().start(backend, **{"exchange": {"patience": "500ms", "exclude_after": 2}, **changes})

    def run(self, **changes: Any) -> None:
        """Start it, and wait until it is under way."""
        self.start(**changes)
        poll(self.is_running)

    def nurseries(self) -> list[int]:
        return [pid for pid, command in marked(self.mark).items() if NURSERY in command]

    def nodes(self) -> list[int]:
        """A fork server's children have its command line; it is the oldest."""
        return sorted(self.nurseries())[1:]

    def summary(self) -> dict[str, Any]:
        assert self.folder is not None
        assert (self.folder / "report.html").stat().st_size > 0
        return summary_of(self.folder)


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
    pame.run()
    pame.signal(number)
    code, _ = pame.end()
    assert code == ExitCode.INTERRUPTED
    summary = pame.summary()
    assert (summary["status"], summary["exact"]) == ("interrupted", False)
    assert summary["iterations"] > 0
    assert sorted(summary["network"]["results"]) == ["0", "1", "2", "3"]
    assert pame.is_gone()


def test_a_killed_orchestrator_takes_everything_with_it_even_a_frozen_node(pame: Pame) -> None:
    pame.run()
    os.kill(pame.nodes()[0], signal.SIGSTOP)
    pame.signal(signal.SIGKILL)
    pame.end()
    poll(pame.is_gone, 30)


def test_a_killed_fork_server_takes_no_node_out_of_sight(pame: Pame) -> None:
    pame.run()
    os.kill(sorted(pame.nurseries())[0], signal.SIGKILL)
    pame.signal(signal.SIGINT)
    code, _ = pame.end()
    assert code == ExitCode.INTERRUPTED
    assert pame.is_gone()


def test_nodes_that_die_in_the_run_are_in_its_summary(pame: Pame) -> None:
    pame.run(stop={"iterations": 200, "seconds": "90s"})
    os.kill(pame.nodes()[0], signal.SIGKILL)
    code, _ = pame.end()
    assert code == ExitCode.DEGRADED  # nobody had planned it
    summary = pame.summary()
    assert (summary["network"]["deaths"], summary["network"]["restarts"]) == (1, 0)
    assert len(summary["network"]["suspects"]) >= 1
    assert summary["exact"] is False
    assert pame.folder is not None
    assert events_of(pame.folder, "died")
    assert pame.is_gone()


def ends_with_one_line(pame: Pame, start: str, *words: str) -> None:
    pame.start()
    try:
        code, errors = pame.end()
        assert code == ExitCode.FAULT
        [line] = errors.splitlines()
        assert line.startswith(start)
        assert all(each in line for each in words), line
        assert pame.is_gone()
    finally:
        pame.kill()


def test_a_node_that_cannot_start_ends_the_run_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the fork server, and only there, opening a server fails."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'node.fork_server' in sys.orig_argv:\n"
        "    import node.process\n"
        "    def crash(*_): raise OSError('no sockets today')\n"
        "    node.process.ExchangeServer.open = crash\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    ends_with_one_line(Pame(tmp_path), "error: ", "could not start", "no sockets today")


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
