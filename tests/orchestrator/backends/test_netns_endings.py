"""`pame run --backend netns`, ended in every way: no process, no interface and no namespace is left of it.

The machine that `pame` sees is a network namespace, so that nobody else adds or removes interfaces there. A namespace
cannot be seen, but a cable goes with either of its ends: one from here into each node's namespace is the witness.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.cli.exit_codes import ExitCode
from tests.harness import poll
from tests.orchestrator.backends.harness import MARK, marked, new_mark

ROOT = Path(__file__).parents[3]
NODES = 4
EXPERIMENT = {
    "name": "fragile",
    "nodes": NODES,
    "topology": {"kind": "complete"},
    "problem": {"kind": "linear", "n": 20, "samples": 10, "test_samples": 5},
    "period": 1,
    "compute": {"step": "10ms"},
    "stop": {"iterations": 100_000, "seconds": "90s"},
}

pytestmark = pytest.mark.requires("root")


class Pame:
    """The command under test, the machine it sees, and all its processes."""

    def __init__(self, folder: Path) -> None:
        self.runs = folder / "runs"
        self.mark = new_mark()
        self._file = folder / "fragile.yaml"
        self._machine = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._machine.stdout is not None
        assert self._machine.stdout.readline() == b"up\n"
        self.process: subprocess.Popen[str] | None = None

    def start(self, iterations: int) -> None:
        experiment = {**EXPERIMENT, "stop": {"iterations": iterations, "seconds": "90s"}}
        self._file.write_text(json.dumps(experiment))
        command = [sys.executable, "-c", "from orchestrator.cli import main; main()", "run", str(self._file)]
        self.process = subprocess.Popen(
            [*self._there(), *command, "--backend", "netns", "--quiet", "--out", str(self.runs)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, MARK: self.mark},
            start_new_session=True,
        )

    def links(self) -> list[str]:
        return [link["ifname"] for link in json.loads(self._do("ip", "-j", "link"))]

    def is_running(self) -> bool:
        curve = next(iter(self.runs.glob("*-fragile/curve.jsonl")), None) if self.runs.exists() else None
        return curve is not None and len(curve.read_text().splitlines()) > 2

    def plant_witnesses(self) -> None:
        """A cable from the machine into the namespace of every node."""
        machine = self._namespace(self._machine.pid)
        nodes = {self._namespace(pid): pid for pid in marked(self.mark) if self._namespace(pid) != machine}
        assert len(nodes) == NODES
        for number, pid in enumerate(nodes.values()):
            self._do(
                *f"ip link add witness{number} type veth peer name witness netns /proc/{pid}/ns/net".split(),
            )
        assert len(self.links()) == 2 + NODES

    def end(self) -> int:
        assert self.process is not None
        self.process.communicate(timeout=90)
        return self.process.returncode

    def is_gone(self) -> bool:
        return marked(self.mark) == {} and self.links() == ["lo"]

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)
        self._machine.communicate()

    def _there(self) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._machine.pid}/ns/net"]

    def _do(self, *command: str) -> str:
        done = subprocess.run([*self._there(), *command], check=True, capture_output=True, text=True, timeout=30)
        return done.stdout

    @staticmethod
    def _namespace(pid: int) -> int:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino


@pytest.fixture
def pame(tmp_path: Path) -> Iterator[Pame]:
    made = Pame(tmp_path)
    yield made
    made.close()


def test_a_run_that_succeeds_leaves_nothing(pame: Pame) -> None:
    assert pame.links() == ["lo"]
    pame.start(iterations=1500)
    poll(pame.is_running)
    pame.plant_witnesses()
    assert pame.end() == ExitCode.DONE
    assert not [name for name in pame.links() if name.startswith("pame")]
    poll(pame.is_gone, 30)


@pytest.mark.parametrize(
    ("number", "is_there"),
    [
        (signal.SIGINT, Pame.is_running),
        (signal.SIGKILL, Pame.is_running),
        (signal.SIGKILL, lambda pame: len(pame.links()) > 1),
    ],
    ids=["interrupted", "killed", "killed as soon as its network is there"],
)
def test_a_run_that_is_ended_leaves_nothing(
    pame: Pame, number: signal.Signals, is_there: Callable[[Pame], bool]
) -> None:
    pame.start(iterations=100_000)
    poll(lambda: is_there(pame))
    if is_there is Pame.is_running:
        pame.plant_witnesses()
    assert pame.process is not None
    pame.process.send_signal(number)
    code = pame.end()
    if number is signal.SIGINT:
        assert code == ExitCode.INTERRUPTED
        assert not [name for name in pame.links() if name.startswith("pame")]
    poll(pame.is_gone, 30)
