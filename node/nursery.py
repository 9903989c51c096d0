"""Many nodes on one machine, quickly: import everything once, then fork a process per node.

    in   (standard input)    one JSON object of `Options` per line: start that node
    out  (standard output)   {"member": ..., "pid": ...} when it is there;  {"pid": ..., "code": ...} when it has ended

At the end of its input (its parent has gone) the nursery gives its nodes a moment to leave, then ends the rest: a
frozen node cannot leave. On SIGTERM it ends them at once. gRPC starts its threads in the nodes, not here.
"""

import asyncio
import gc
import json
import os
import selectors
import signal
import sys
import time
from contextlib import suppress

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from node.process import Node, Options
from pame.errors import PameError

_GRACE_S = 8.0


def main() -> None:
    """Serve until the input ends."""
    gc.collect()
    gc.freeze()  # what is there now is never looked at again, so that it stays shared between the nodes
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    waiting = selectors.DefaultSelector()
    orders = sys.stdin.fileno()
    waiting.register(orders, selectors.EVENT_READ)
    waiting.register(ended, selectors.EVENT_READ)
    children: set[int] = set()
    rest, deadline = b"", float("inf")
    while children or deadline == float("inf"):
        for key, _ in waiting.select(None if deadline == float("inf") else max(deadline - time.monotonic(), 0.01)):
            if key.fd == ended:
                os.read(ended, 4096)
            elif data := os.read(orders, 65536):
                *lines, rest = (rest + data).split(b"\n")
                children.update(_fork(json.loads(line)) for line in lines if not told)
            else:
                waiting.unregister(orders)
                deadline = min(deadline, time.monotonic() + _GRACE_S)
        if told:
            deadline = 0.0
        _reap(children)
        if time.monotonic() >= deadline:
            for pid in children:
                os.kill(pid, signal.SIGKILL)  # ours until reaped, so nobody else's


def _fork(given: dict[str, object]) -> int:
    options = Options(**given)  # type: ignore[arg-type]
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = _be(options)
        finally:  # a child must never go on as a second nursery
            os._exit(code)
    _say({"member": options.member, "pid": pid})
    return pid


def _be(options: Options) -> int:
    """In the child: one node, from its start to its end."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    try:
        asyncio.run(_run(options))
    except (PameError, OSError, RuntimeError) as error:
        print(f"{options.member}: error: {error}", file=sys.stderr, flush=True)
        return 2
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


async def _run(options: Options) -> None:
    await Node(options).run()


def _reap(children: set[int]) -> None:
    for pid in list(children):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            children.discard(pid)
            _say({"pid": pid, "code": os.waitstatus_to_exitcode(status)})


def _say(what: dict[str, object]) -> None:
    with suppress(BrokenPipeError):  # nobody listens any more; the nodes are ours all the same
        os.write(sys.stdout.fileno(), json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    main()
