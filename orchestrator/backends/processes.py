"""Node processes of this machine, from one fork server: started, watched, and none left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from node.process import Options
from node.supervisor import SOCKET_VARIABLE
from orchestrator.errors import NodeFailed, writing

_EXIT_S = 5.0
_POLL_S = 0.02


@dataclass(frozen=True)
class Place:
    """Where on this machine a node is."""

    host: str
    """The address it listens on, or `auto`."""
    namespace: str | None = None
    """The network namespace it is in (a path); None: ours."""


ON_LOOPBACK = Place("127.0.0.1")


class NodeProcesses(AbstractContextManager["NodeProcesses"]):
    """To be used as a context: at its end every process is gone."""

    def __init__(self, log: Path, kept: Sequence[int] = (), with_torch: bool = False) -> None:
        """`log`: where the nodes' standard error goes; `kept`: open files that every node keeps open; `with_torch`:
        whether they share one copy of it."""
        self._log = log
        self._pids: dict[str, int] = {}
        self._codes: dict[int, int] = {}
        self._rest = b""
        self._lifeline, self._held = os.pipe()
        self._room = TemporaryDirectory(prefix="pame-")  # the path of a socket must be short
        orders = str(Path(self._room.name) / "orders")
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", SOCKET_VARIABLE: orders}
        with writing(log), log.open("ab") as errors:
            self._fork_server = subprocess.Popen(
                [sys.executable, "-m", "node.fork_server", *(["--torch"] if with_torch else [])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                pass_fds=[self._lifeline, *kept],
                start_new_session=True,  # Ctrl-C reaches only us; we end the nodes in order
            )
        assert self._fork_server.stdin is not None
        assert self._fork_server.stdout is not None
        self._orders, self._news = self._fork_server.stdin, self._fork_server.stdout
        os.set_blocking(self._news.fileno(), False)

    def __exit__(self, *_: object) -> None:
        for pid in self.alive().values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._fork_server.terminate()  # whatever it still has, and whatever it would still start
        with suppress(BrokenPipeError):
            self._orders.close()
        os.close(self._held)
        os.close(self._lifeline)
        try:
            self._fork_server.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            self._fork_server.kill()
            self._fork_server.wait()
        self._news.close()
        self._room.cleanup()

    def start(self, member: str, orchestrator: str, token: str, place: Place = ON_LOOPBACK) -> None:
        """Start one node; a former process of that name is forgotten."""
        self._pids.pop(member, None)
        options = Options(
            orchestrator=orchestrator,
            token=token,
            member=member,
            host=place.host,
            lifeline=self._lifeline,
            namespace=place.namespace,
            shape=place.namespace is not None,
        )
        self._tell(asdict(options), f"{member} could not start")

    def heal(self) -> None:
        """A run is over, and another is to begin: nobody stays paused or away."""
        self._listen()
        killed = -signal.SIGKILL  # by order: whoever comes back says so
        self._pids = {member: pid for member, pid in self._pids.items() if self._codes.get(pid) != killed}
        self._tell({"heal": True}, "the nodes could not be healed")

    def alive(self) -> dict[str, int]:
        self._listen()
        return {member: pid for member, pid in self._pids.items() if pid not in self._codes}

    def codes(self) -> dict[int, int]:
        """Exit codes by process id, of those that have ended."""
        self._listen()
        return dict(self._codes)

    async def watch_start(self, is_running: Callable[[], bool]) -> None:
        """Raise if a node gives up before the run is under way; from then on a death is the run's business."""
        while not is_running():
            self._listen()
            failed = [member for member, pid in self._pids.items() if self._codes.get(pid, 0) != 0]
            if failed or self._fork_server.poll() is not None:
                raise NodeFailed(f"{failed[0] if failed else 'the fork server'} could not start: {self._last_words()}")
            await asyncio.sleep(_POLL_S)

    async def wait(self) -> None:
        """Give dismissed nodes a moment to leave by themselves."""
        deadline = time.monotonic() + _EXIT_S
        while self.alive() and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_S)

    def _listen(self) -> None:
        """Take in what the fork server has said so far."""
        while said := _read(self._news.fileno()):
            *lines, self._rest = (self._rest + said).split(b"\n")
            for line in lines:
                news = json.loads(line)
                if "code" in news:
                    self._codes[news["pid"]] = news["code"]
                else:
                    self._pids[news["member"]] = news["pid"]

    def _tell(self, what: Mapping[str, object], failed: str) -> None:
        try:
            self._orders.write(json.dumps(what).encode() + b"\n")
            self._orders.flush()
        except BrokenPipeError:
            raise NodeFailed(f"{failed}, the fork server has ended: {self._last_words()}") from None

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        errors = [line for line in lines if "error" in line.lower()]
        said = (errors or lines)[-1:]
        return "; ".join([*said, f"look at {self._log}"])


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except BlockingIOError:
        return b""
