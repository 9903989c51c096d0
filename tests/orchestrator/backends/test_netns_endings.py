"""`pame run --backend netns`, ended in every way: no process, no interface and no namespace is left of it.

The machine that `pame` sees is a network namespace, so that nobody else adds or removes interfaces there. A namespace
cannot be seen, but a cable goes with either of its ends: one from here into each node's namespace is the witness.
"""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.cli.exit_codes import ExitCode
from tests.harness import poll
from tests.orchestrator.backends.harness import FRAGILE, FragileRun, marked

pytestmark = pytest.mark.requires("root")


class Pame(FragileRun):
    """On the machine that it sees, which is a namespace."""

    def __init__(self, folder: Path) -> None:
        self._machine = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._machine.stdout is not None
        assert self._machine.stdout.readline() == b"up\n"
        self._there = ("nsenter", f"--net=/proc/{self._machine.pid}/ns/net")
        super().__init__(folder, self._there)

    def links(self) -> list[str]:
        return [link["ifname"] for link in json.loads(self._do("ip", "-j", "link"))]

    def plant_witnesses(self) -> None:
        """A cable from the machine into the namespace of every node."""
        machine = self._namespace(self._machine.pid)
        nodes = {self._namespace(pid): pid for pid in marked(self.mark) if self._namespace(pid) != machine}
        assert len(nodes) == FRAGILE["nodes"]
        for number, pid in enumerate(nodes.values()):
            self._do(*f"ip link add witness{number} type veth peer name witness netns /proc/{pid}/ns/net".split())
        assert len(self.links()) == 2 + len(nodes)

    def is_gone(self) -> bool:
        return super().is_gone() and self.links() == ["lo"]

    def kill(self) -> None:
        super().kill()
        self._machine.communicate()

    def _do(self, *command: str) -> str:
        done = subprocess.run([*self._there, *command], check=True, capture_output=True, text=True, timeout=30)
        return done.stdout

    @staticmethod
    def _namespace(pid: int) -> int:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino


@pytest.fixture
def pame(tmp_path: Path) -> Iterator[Pame]:
    made = Pame(tmp_path)
    yield made
    made.kill()


def test_a_run_that_succeeds_leaves_nothing(pame: Pame) -> None:
    assert pame.links() == ["lo"]
    pame.start("netns", stop={"iterations": 1500, "seconds": "90s"})
    poll(pame.is_running)
    pame.plant_witnesses()
    code, _ = pame.end()
    assert code == ExitCode.DONE
    assert not [name for name in pame.links() if name.startswith("pame")]
    poll(pame.is_gone, 30)


@pytest.mark.parametrize(
    ("number", "is_there"),
    [
        (signal.SIGINT, FragileRun.is_running),
        (signal.SIGKILL, FragileRun.is_running),
        (signal.SIGKILL, lambda pame: len(pame.links()) > 1),
    ],
    ids=["interrupted", "killed", "killed as soon as its network is there"],
)
def test_a_run_that_is_ended_leaves_nothing(
    pame: Pame, number: signal.Signals, is_there: Callable[[Pame], bool]
) -> None:
    pame.start("netns")
    poll(lambda: is_there(pame))
    if is_there is FragileRun.is_running:
        pame.plant_witnesses()
    pame.signal(number)
    code, _ = pame.end()
    if number is signal.SIGINT:
        assert code == ExitCode.INTERRUPTED
        assert not [name for name in pame.links() if name.startswith("pame")]
    poll(pame.is_gone, 30)
