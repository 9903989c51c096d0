"""The command `pame` at a terminal: a process whose output is one, and what it has shown so far."""

import os
import pty
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.command import PAME

_URL = re.compile(r"http://127\.0\.0\.1:\d+/#token=[^\s\x1b]+")


class AtTerminal:
    def __init__(self, process: "subprocess.Popen[bytes]", end: int) -> None:
        self.process = process
        self._shown = bytearray()
        self._reader = threading.Thread(target=self._read, args=(end,), daemon=True)
        self._reader.start()

    @property
    def shown(self) -> str:
        return self._shown.decode(errors="replace")

    @property
    def url(self) -> str:
        """Of the live page, once it is printed; empty before."""
        found = _URL.search(self.shown)
        return found[0] if found else ""

    def interrupt(self) -> None:
        """As Ctrl-C: the terminal tells everybody in it."""
        os.killpg(self.process.pid, signal.SIGINT)

    def wait(self, seconds: float) -> int:
        code = self.process.wait(seconds)
        self._reader.join(seconds)
        return code

    def _read(self, end: int) -> None:
        with suppress(OSError):  # a terminal that nobody writes to any more
            while piece := os.read(end, 1 << 16):
                self._shown += piece


@contextmanager
def at_terminal(folder: Path, *arguments: object) -> Iterator[AtTerminal]:
    """None of it is left, whatever the test finds."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200", "LINES": "50"}
    with subprocess.Popen(
        [PAME, *map(str, arguments)],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            yield AtTerminal(process, ours)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    os.close(ours)
