"""The parent of a node's trainer, and process 1 of its container: `python -m node.supervisor ARGUMENTS OF THE NODE`.

It passes signals on, buries what dies, and starts a trainer that was killed again. It takes orders over a Unix socket
(`node.supervisor_client`); each carries its end, so that nothing stays paused or dead when whoever gave it is gone:

    {"do": "pause", "seconds": 3}      stopped, goes on after 3 s
    {"do": "kill", "seconds": 3}       killed, a new one starts after 3 s
    {"do": "restart", "seconds": 3}    told to leave, a new one starts 3 s after it has left

An order that names its run ("run": "1f2e3d4c") ends with it at the latest, if PAME_PAGE says where the orchestrator's
page is. Standard library only: it must be there at once, and small.
"""

import json
import logging
import os
import selectors
import signal
import socket
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from math import isfinite
from pathlib import Path

from contract.logs import log_event, log_to_stderr
from node.run_watch import PAGE_VARIABLE, RunWatch
from node.supervisor_socket import SupervisorSocket

_LOG = logging.getLogger("node.supervisor")
SOCKET_VARIABLE = "PAME_SUPERVISOR"
MEMBER_VARIABLE = "PAME_MEMBER"
LONGEST_S = 3600.0
_LEAVE_S = 5.0
_FIRST_BACKOFF_S = 0.5
_LONGEST_BACKOFF_S = 10.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)


class SupervisorOrder(StrEnum):
    """What becomes of a trainer."""

    PAUSE = "pause"
    KILL = "kill"
    RESTART = "restart"


class BadOrder(Exception):
    """An order that cannot be carried out; says why."""


def read_order(line: bytes) -> tuple[SupervisorOrder, float, str]:
    """What to do, for how many seconds, and in which run, by its name; empty: in none."""
    try:
        order = json.loads(line)
        do, seconds, run = order["do"], float(order["seconds"]), order.get("run", "")
        if not isinstance(run, str):
            raise TypeError
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise BadOrder('an order is {"do": "pause", "seconds": 3}') from None
    if do not in list(SupervisorOrder):
        raise BadOrder(f"{do!r} is no order; there are: {', '.join(SupervisorOrder)}")
    if not isfinite(seconds) or not 0 <= seconds <= LONGEST_S:
        raise BadOrder(f"an order ends after 0 to {LONGEST_S:g} seconds, not {seconds:g}")
    return SupervisorOrder(do), seconds, run


class Supervisor:
    """One trainer, from the first start to the last exit."""

    def __init__(self, command: list[str], environment: dict[str, str], orders: socket.socket) -> None:
        """`orders`: a listening socket."""
        self._command = command
        self._environment = environment
        self._orders = orders
        self._pid: int | None = None
        self._start_at: float | None = None
        self._resume_at: float | None = None
        self._ordered_back_s: float | None = None
        """The trainer is about to die on purpose, and is back after so many seconds."""
        self._kill_at: float | None = None
        """It was told to leave, and is not waited for longer."""
        self._backoff_s = _FIRST_BACKOFF_S
        self._started_at = 0.0
        self._leaving = False
        self._watch: RunWatch | None = None
        """Of the run whose order is in force."""
        self._woken, self._waker = socket.socketpair()
        for end in (self._woken, self._waker):
            end.setblocking(False)

    def run(self) -> int:
        """Until the trainer leaves by itself or is told to; its exit code."""
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)  # the byte in the wake-up socket says which
        with selectors.DefaultSelector() as events:
            events.register(self._woken, selectors.EVENT_READ)
            orders = SupervisorSocket(self._orders, events, self._carry_out)
            self._start()
            while True:
                for key, _ in events.select(self._next_alarm()):
                    if key.fileobj is not self._woken:
                        orders.ready(key.fileobj)
                    elif set(self._woken.recv(4096)) & {signal.SIGTERM, signal.SIGINT}:
                        self._leave()
                code = self._bury()
                if code is not None:
                    return code
                self._look_at_the_clock()

    def _start(self) -> None:
        self._forget_run()
        self._pid = os.posix_spawn(self._command[0], self._command, self._environment)
        self._start_at = None
        self._started_at = time.monotonic()

    def _leave(self) -> None:
        self._leaving = True
        if self._pid is not None:
            os.kill(self._pid, signal.SIGTERM)
            os.kill(self._pid, signal.SIGCONT)

    def _bury(self) -> int | None:
        """Everything that has died; an exit code if that ends it all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                pid, status = 0, 0
            if pid == 0:
                return 0 if self._leaving and self._pid is None else None
            if pid == self._pid:
                self._pid = self._resume_at = self._kill_at = None
                code = os.waitstatus_to_exitcode(status)
                if self._leaving or (self._ordered_back_s is None and code >= 0):
                    return code if code >= 0 else 128 - code
                self._plan_start(-code)

    def _plan_start(self, number: int) -> None:
        now = time.monotonic()
        if self._ordered_back_s is not None:
            self._start_at, self._ordered_back_s = now + self._ordered_back_s, None
            return
        if now - self._started_at > _LONGEST_BACKOFF_S:
            self._backoff_s = _FIRST_BACKOFF_S
        log_event(_LOG, "trainer_killed", logging.WARNING, signal=number, next_s=self._backoff_s)
        self._start_at = now + self._backoff_s
        self._backoff_s = min(2 * self._backoff_s, _LONGEST_BACKOFF_S)

    def _next_alarm(self) -> float | None:
        alarms = [at for at in (self._start_at, self._resume_at, self._kill_at) if at is not None]
        return max(0.0, min(alarms) - time.monotonic()) if alarms else None

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if self._watch is not None and self._watch.is_over:
            self._end_order(now)
        if self._start_at is not None and now >= self._start_at:
            self._start()
        if self._resume_at is not None and now >= self._resume_at and self._pid is not None:
            self._resume_at = None
            self._forget_run()
            os.kill(self._pid, signal.SIGCONT)
        if self._kill_at is not None and now >= self._kill_at and self._pid is not None:
            self._kill_at = None
            os.kill(self._pid, signal.SIGKILL)

    def _end_order(self, now: float) -> None:
        """Its run is over, so nobody is paused or away any longer."""
        self._forget_run()
        self._resume_at = None if self._resume_at is None else now
        self._start_at = None if self._start_at is None else now
        self._ordered_back_s = None if self._ordered_back_s is None else 0.0

    def _watch_run(self, run: str) -> None:
        page = os.environ.get(PAGE_VARIABLE)
        if page and run and (self._watch is None or self._watch.run != run):
            self._forget_run()
            self._watch = RunWatch(page, run, self._wake)

    def _forget_run(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # full: it is about to wake up anyway
            self._waker.send(b"\0")

    def _carry_out(self, line: bytes) -> dict[str, object]:
        try:
            do, seconds, run = read_order(line)
            if self._pid is None or self._leaving or self._ordered_back_s is not None:
                raise BadOrder("there is no trainer just now: try again when it is back")
        except BadOrder as error:
            return {"done": False, "why": str(error)}
        if do is SupervisorOrder.PAUSE:
            os.kill(self._pid, signal.SIGSTOP)
            self._resume_at = max(self._resume_at or 0.0, time.monotonic() + seconds)
        else:
            self._ordered_back_s = seconds
            self._kill_at = time.monotonic() + _LEAVE_S
            os.kill(self._pid, signal.SIGKILL if do is SupervisorOrder.KILL else signal.SIGTERM)
            os.kill(self._pid, signal.SIGCONT)
        self._watch_run(run)
        return {"done": True, "pid": self._pid}


def main(arguments: Sequence[str]) -> int:
    """Supervise `python -m node` with these arguments."""
    is_container = os.getpid() == 1  # and then its host name is its own, and stays over restarts
    name = socket.gethostname() if is_container else f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}"
    place = "/run/pame-supervisor" if is_container else f"/tmp/pame-supervisor-{os.getpid()}"
    path = Path(os.environ.get(SOCKET_VARIABLE, place))
    environment = {**os.environ, SOCKET_VARIABLE: str(path)}
    environment.setdefault(MEMBER_VARIABLE, name)
    log_to_stderr(member=environment[MEMBER_VARIABLE])
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as orders:
        os.umask(0o077)  # orders are for whoever may also send signals
        orders.bind(str(path))
        orders.listen()
        try:
            return Supervisor([sys.executable, "-m", "node", *arguments], environment, orders).run()
        finally:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
