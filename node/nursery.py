"""Many nodes on one machine, quickly: import everything once, then fork a process per node.

    in   (standard input)    one JSON object of `Options` per line: start that node
    out  (standard output)   {"member": ..., "pid": ...} when it is there;  {"pid": ..., "code": ...} when it has ended

At the end of its input the nursery waits for its nodes and leaves. gRPC starts its threads in the nodes, not here.
"""

import asyncio
import gc
import json
import os
import selectors
import signal
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

from node.process import Node, Options
from pame.errors import PameError


def main() -> None:
    """Serve until the input ends."""
    gc.collect()
    gc.freeze()  # what is there now is never looked at again, so that it stays shared between the nodes
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting = selectors.DefaultSelector()
    orders = sys.stdin.fileno()
    waiting.register(orders, selectors.EVENT_READ)
    waiting.register(ended, selectors.EVENT_READ)
    children: set[int] = set()
    is_open, rest = True, b""
    while is_open or children:
        for key, _ in waiting.select():
            if key.fd == ended:
                os.read(ended, 4096)
                _reap(children)
            elif data := os.read(orders, 65536):
                *lines, rest = (rest + data).split(b"\n")
                children.update(_fork(json.loads(line)) for line in lines)
            else:
                waiting.unregister(orders)
                is_open = False


def _fork(given: dict[str, object]) -> int:
    options = Options(**given)  # type: ignore[arg-type]
    pid = os.fork()
    if pid == 0:
        os._exit(_be(options))
    _say({"member": options.member, "pid": pid})
    return pid


def _be(options: Options) -> int:
    """In the child: one node, from its start to its end."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
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
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
