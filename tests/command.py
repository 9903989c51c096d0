"""The command `pame` as processes: called, begun and ended, and an orchestrator that stays; and what they answer."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.backends.processes import NodeProcesses

PAME = str(Path(sys.executable).parent / "pame")
TOKEN = "a token"
BOUND_S = 180.0
Done = subprocess.CompletedProcess[str]
Seen = TypeVar("Seen")


def call(folder: Path, *arguments: object, seconds: float = BOUND_S) -> Done:
    command = [PAME, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=seconds, check=False)


def told(done: Done) -> str:
    """What it said; it ended well."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def mistake(done: Done, code: int = 2) -> str:
    """The one line that says what is wrong and what to do."""
    assert done.returncode == code, done.stdout + done.stderr
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    return line


@contextmanager
def begun(folder: Path, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """In a session of its own: whatever the test finds, none of it is left."""
    with subprocess.Popen(
        [PAME, *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_for(seen: Callable[[], Seen], process: "subprocess.Popen[Any] | None" = None) -> Seen:
    """What is seen at last, while the process goes on."""
    deadline = time.monotonic() + BOUND_S
    while not (found := seen()):
        assert time.monotonic() < deadline, "this did not happen in time"
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.02)
    return found


def written(root: Path, pattern: str = "runs/**/curve.jsonl") -> list[Path]:
    """The files with something in them: by default of runs that are under way or over."""
    return [path for path in root.glob(pattern) if path.stat().st_size]


def only_run(root: Path) -> Path:
    [folder] = (root / "runs").iterdir()
    return folder


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of JSON that may still grow."""
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


class Service:
    """`pame serve` in this folder; whoever makes one ends it."""

    def __init__(self, folder: Path, *arguments: object) -> None:
        self.log = folder / "serve.log"
        command = [PAME, "serve", "--port", "0", "--metrics-port", "0", *map(str, arguments)]
        environment = {**os.environ, "PAME_TOKEN": TOKEN, "OPENBLAS_NUM_THREADS": "1"}
        with self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.address: str = self.wait_for("listening")["address"]

    def events(self, name: str = "") -> list[dict[str, Any]]:
        return [event for event in lines_of(self.log) if name in ("", event["event"])]

    def wait_for(self, event: str) -> dict[str, Any]:
        return wait_for(lambda: self.events(event), self.process)[0]

    def join(self, processes: NodeProcesses, numbers: range) -> None:
        for number in numbers:
            processes.start(f"node-{number}", self.address, TOKEN)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.code()

    def code(self) -> int:
        self.process.communicate(timeout=BOUND_S)
        return self.process.returncode

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()
