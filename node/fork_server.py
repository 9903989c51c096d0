"""Many nodes on one machine, quickly: import everything once, then fork a process per node.

    in   (standard input)    one JSON object of `Options` per line: start that node;  {"heal": true}: orders end now
    out  (standard output)   {"member": ..., "pid": ...} when it is there;  {"pid": ..., "code": ...} when it has ended

At the end of its input (its parent has gone) the fork server gives its nodes a moment to leave, then ends the rest: a
frozen node cannot leave. On SIGTERM it ends them at once. gRPC starts its threads in the nodes, not here.
If PAME_SUPERVISOR names a path, nodes can ask there to be paused, killed and restarted. With --torch the nodes share
one copy of torch: it is imported here, and no more than that, so that it has no threads when a node is forked.
"""

import ctypes
import gc
import json
import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from contract.logs import log_event, log_mistake, log_to_stderr
from contract.plugins import PluginError, load_plugins
from contract.unexpected_errors import in_one_line
from node.precise_loop import run_precisely
from node.process import Node, Options
from node.supervisor import SOCKET_VARIABLE, BadOrder, SupervisorOrder, read_order
from node.supervisor_socket import SupervisorSocket
from pame.errors import PameError

_LOG = logging.getLogger("node.fork_server")
_GRACE_S = 8.0
_AWAY_S = 0.5
"""At least so long is a node away that was told to leave."""
_LEAVE_S = 5.0
_LOOK_S = 0.05
_CLONE_NEWNET = 0x40000000


class ForkServer:
    """The parent of all nodes: starts them, buries them, and carries out their orders (as `node.supervisor` does)."""

    def __init__(self, orders: socket.socket | None) -> None:
        """`orders`: a listening socket."""
        self._orders = orders
        self._children: dict[int, dict[str, object]] = {}
        """What each was started with, by process id."""
        self._alarms: list[tuple[float, Callable[[], None]]] = []
        self._rest = b""
        self._deadline = float("inf")

    def serve(self) -> None:
        """Until the input ends and nobody is left."""
        ended, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        told: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
        waiting = selectors.DefaultSelector()
        source = sys.stdin.fileno()
        for readable in (source, ended):
            waiting.register(readable, selectors.EVENT_READ)
        orders = SupervisorSocket(self._orders, waiting, self._carry_out) if self._orders else None
        while self._children or self._alarms or self._deadline == float("inf"):
            for key, _ in waiting.select(self._pause_s()):
                if key.fd == ended:
                    os.read(ended, 4096)
                elif orders is not None and key.fd != source:
                    orders.ready(key.fileobj)
                elif data := os.read(source, 65536):
                    self._start(data, bool(told))
                else:
                    waiting.unregister(source)
                    self._leave(_GRACE_S)
            if told:
                self._leave(0.0)
            self._reap()
            self._look_at_the_clock()

    def _pause_s(self) -> float | None:
        moments = [self._deadline, *(moment for moment, _ in self._alarms)]
        first = min(moments)
        return None if first == float("inf") else max(first - time.monotonic(), 0.01)

    def _leave(self, grace_s: float) -> None:
        """Nobody comes back from now on."""
        self._alarms.clear()
        self._deadline = min(self._deadline, time.monotonic() + grace_s)

    def _start(self, data: bytes, is_leaving: bool) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if is_leaving:
                return
            given = json.loads(line)
            if "heal" in given:
                self._heal()
            else:
                self._fork(given)

    def _heal(self) -> None:
        """The run is over: who is paused goes on, who is away comes back."""
        due, self._alarms = self._alarms, []
        for _, action in due:
            action()

    def _fork(self, given: dict[str, object]) -> None:
        options = Options(**given)  # type: ignore[arg-type]
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = _be(options)
            finally:  # a child must never go on as a second fork server
                os._exit(code)
        self._children[pid] = given
        _say({"member": options.member, "pid": pid})

    def _reap(self) -> None:
        for pid in list(self._children):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                del self._children[pid]
                _say({"pid": pid, "code": os.waitstatus_to_exitcode(status)})

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        due = [action for moment, action in self._alarms if moment <= now]
        self._alarms = [alarm for alarm in self._alarms if alarm[0] > now]
        for action in due:
            action()
        if now >= self._deadline:
            for pid in self._children:
                os.kill(pid, signal.SIGKILL)  # ours until reaped, so nobody else's

    def _carry_out(self, line: bytes) -> dict[str, object]:
        try:
            do, seconds, _ = read_order(line)
            pid = json.loads(line).get("pid")
            if pid not in self._children or self._deadline != float("inf"):
                raise BadOrder(f"process {pid} is no node of this fork server, or not any more")
        except BadOrder as error:
            return {"done": False, "why": str(error)}
        given, end = self._children[pid], time.monotonic() + seconds
        if do is SupervisorOrder.PAUSE:
            os.kill(pid, signal.SIGSTOP)
            self._alarms.append((end, lambda: self._continue(pid)))
        else:
            os.kill(pid, signal.SIGKILL if do is SupervisorOrder.KILL else signal.SIGTERM)
            must_go = time.monotonic() + _LEAVE_S
            self._alarms.append((max(end, time.monotonic() + _AWAY_S), lambda: self._bring_back(pid, given, must_go)))
        return {"done": True, "pid": pid}

    def _bring_back(self, pid: int, given: dict[str, object], must_go: float) -> None:
        """When the former self has left; it is not waited for without end."""
        if pid not in self._children:
            self._fork(given)
            return
        if time.monotonic() >= must_go:
            os.kill(pid, signal.SIGKILL)
        self._alarms.append((time.monotonic() + _LOOK_S, lambda: self._bring_back(pid, given, must_go)))

    def _continue(self, pid: int) -> None:
        if pid in self._children:
            os.kill(pid, signal.SIGCONT)


def main() -> None:
    try:
        load_plugins()
    except PluginError as error:
        sys.exit(f"error: {error}")
    if "--torch" in sys.argv:
        import pame.vision.augmentation
        import pame.vision.models
        import pame.vision.network

        pame.vision.network.settle_process()
    gc.collect()
    gc.freeze()  # what is there now is never looked at again, so that it stays shared between the nodes
    path = os.environ.get(SOCKET_VARIABLE)
    if path is None:
        ForkServer(None).serve()
        return
    with socket.socket(socket.AF_UNIX) as orders:
        os.umask(0o077)
        orders.bind(path)
        orders.listen()
        ForkServer(orders).serve()


def _be(options: Options) -> int:
    """In the child: one node, from its start to its end."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    log_to_stderr(member=options.member)
    try:
        if options.namespace is not None:
            _enter(options.namespace)
        run_precisely(Node(options).run())
    except (PameError, OSError) as error:
        log_event(_LOG, "failed", logging.ERROR, reason=error)
        return 2
    except Exception as error:
        log_mistake(_LOG, "failed", error, reason=in_one_line(error))
        return 2
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _enter(namespace: str) -> None:
    """Be in this network namespace from now on: sockets belong to where they were made."""
    descriptor = os.open(namespace, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}: {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(descriptor)


def _say(what: dict[str, object]) -> None:
    with suppress(BrokenPipeError):  # nobody listens any more; the nodes are ours all the same
        os.write(sys.stdout.fileno(), json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    main()
