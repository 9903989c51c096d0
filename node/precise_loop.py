"""An event loop with timers to the microsecond: in asyncio's own, epoll rounds every sleep up to a millisecond."""

import asyncio
import select
import selectors
from collections.abc import Coroutine
from typing import Any

_MOST_FILES = 1024
"""select(2) knows no others."""


class _PreciseSelector(selectors.EpollSelector):
    """select(2) knows microseconds, and an epoll is a file it can wait for."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0 and self.fileno() < _MOST_FILES:
            select.select((self,), (), (), timeout)
            timeout = 0
        return super().select(timeout)


def run_precisely(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_PreciseSelector())) as runner:
        runner.run(work)
