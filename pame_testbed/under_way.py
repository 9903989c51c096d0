"""A run under way, from the caller's side: its points as they come, its end, and a way to stop it."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from orchestrator.errors import MachineFault
from orchestrator.results.typed_json import from_json
from pame.errors import PameError
from pame.observe import Evaluation
from pame_testbed.job import (
    DONE,
    ERROR,
    FOLDER,
    INTERRUPTED,
    LAST,
    POINT,
    PROGRESS,
    STATE,
    WARNING,
    Job,
    JobProgress,
    Message,
)
from pame_testbed.results import Run
from pame_testbed.shown import Shown


class Worker:
    """A process that carries out a job; a context that leaves none behind."""

    def __init__(self, job: Job, shown: Shown) -> None:
        self.folder: Path | None = None
        self._shown = shown
        self._is_over = False
        self._complaint = ""
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pame_testbed.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is this process's own: it asks the other to end, once
        )
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._drain()

    def stop(self) -> None:
        """Ask it to end in order; what it has, stays."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def messages(self) -> Iterator[Message]:
        """What it tells, up to its last word; its error is raised here. Ctrl-C stops it, and comes when it is over."""
        try:
            while not self._is_over:
                message = self._messages.get()
                if message is None:
                    self._close()
                    raise MachineFault(f"the process of the run ended without a word{self._complaint}")
                self._is_over = any(word in message for word in LAST)
                self._note(message)
                yield message
        except KeyboardInterrupt:
            self.stop()
            self._drain()
            raise
        if self._process.returncode is None:
            self._close()

    def _note(self, message: Message) -> None:
        if FOLDER in message:
            self.folder = Path(message[FOLDER])
        elif WARNING in message:
            warnings.warn(message[WARNING], stacklevel=2)
        elif PROGRESS in message and (progress := from_json(JobProgress, message[PROGRESS])) is not None:
            self._shown.progress(progress)
        elif STATE in message:
            self._shown.state(message[STATE])
        elif ERROR in message:
            self._close()
            raise (MachineFault if message.get("is_machine") else PameError)(message[ERROR])

    def _drain(self) -> None:
        """To its end, whatever it says; killed if somebody cannot wait."""
        try:
            while not self._is_over and self._messages.get() is not None:
                pass
            self._process.wait()
        except KeyboardInterrupt:
            self._process.kill()
            raise
        finally:
            self._is_over = True
            self._close()

    def _close(self) -> None:
        self._is_over = True
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        self._reader.join()
        if not self._errors.closed:
            self._complaint = self._last_complaint()
            self._errors.close()
            self._shown.over(self.folder)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._messages.put(json.loads(line))
        self._messages.put(None)

    def _last_complaint(self) -> str:
        self._errors.seek(0, os.SEEK_SET)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""


class RunUnderWay:
    """Iterate over it for the points of its curves; `run` waits for its end. As a context it is stopped at the end."""

    def __init__(self, worker: Worker, shown: Shown) -> None:
        self._worker = worker
        self._shown = shown
        self._messages = worker.messages()
        self._run: Run | None = None
        for _ in self._messages:
            if worker.folder is not None:
                break

    @property
    def folder(self) -> Path:
        """It fills as the run goes on."""
        assert self._worker.folder is not None
        return self._worker.folder

    def __iter__(self) -> Iterator[Evaluation]:
        """Every point once, as soon as it is known, until the run is over."""
        for message in self._messages:
            point: Evaluation | None = from_json(Evaluation, message.get(POINT))
            if point is not None:
                self._shown.point(point)
                yield point
            if DONE in message or INTERRUPTED in message:
                self._run = Run(self.folder)

    @property
    def run(self) -> Run:
        """What it left; waits until it is over."""
        for _ in self:
            pass
        if self._run is None:
            self._run = Run(self.folder)
        return self._run

    def stop(self) -> None:
        """End it now, in order, as Ctrl-C does; `run` has what there is."""
        self._worker.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ending: Any) -> None:
        self._worker.__exit__(*ending)


def worked(job: Job, shown: Shown) -> Path:
    """Carry out a job to its end; the folder. KeyboardInterrupt: it was interrupted, and can be resumed."""
    with Worker(job, shown) as worker:
        for message in worker.messages():
            if INTERRUPTED in message:
                raise KeyboardInterrupt(f"interrupted; what there is, is in {worker.folder}")
        assert worker.folder is not None
        return worker.folder
