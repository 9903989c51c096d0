"""Whether a run is still under way, asked of the orchestrator's live page: for a node's parent, while its node cannot.

Standard library only, and little of it: the parent is process 1 of a container.
"""

import json
import socket
import threading
from collections.abc import Callable

PAGE_VARIABLE = "PAME_PAGE"
"""Names the page, e.g. orchestrator:8080."""
_ASK_EVERY_S = 0.5
_ANSWER_S = 2.0
_ANSWER_BYTES = 4096


def run_under_way(page: str) -> str | None:
    """Its name, empty if there is none; None if nobody answers."""
    host, _, port = page.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), _ANSWER_S) as connection:
            connection.sendall(f"GET /api/run HTTP/1.0\r\nHost: {page}\r\n\r\n".encode())
            answer = b""
            while len(answer) < _ANSWER_BYTES and (more := connection.recv(_ANSWER_BYTES)):
                answer += more
        head, _, body = answer.partition(b"\r\n\r\n")
        run = json.loads(body)["run"] if head.split()[1:2] == [b"200"] else None
        return run if isinstance(run, str) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class RunWatch:
    """Asks now and then, in a thread, until the run is over. Who does not answer says nothing."""

    def __init__(self, page: str, run: str, wake: Callable[[], None]) -> None:
        self.run = run
        self.is_over = False
        self._page = page
        self._wake = wake
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(_ASK_EVERY_S):
            if run_under_way(self._page) not in (None, self.run):
                self.is_over = True
                self._wake()
                return
