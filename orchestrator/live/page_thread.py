"""A thread with an event loop of its own, in which the live page of a command is served, and its runs on nodes go on.

The main thread simulates, or waits; Ctrl-C reaches it alone, and ends what it waits for in order.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class PageThread:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="live page", daemon=True)
        self._thread.start()

    def call(self, do: Callable[..., object], *arguments: object) -> None:
        """In the loop, a moment later; nobody waits for it."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(do, *arguments)

    def carry_out(self, work: Coroutine[Any, Any, T]) -> T:
        """Its result. Ctrl-C cancels it, and what it makes of that counts: as with `asyncio.run`."""
        begun: Future[asyncio.Task[T]] = Future()
        over = threading.Event()

        def begin() -> None:
            task = self._loop.create_task(work)
            task.add_done_callback(lambda _: over.set())
            begun.set_result(task)

        self._loop.call_soon_threadsafe(begin)
        task = begun.result()
        while not over.is_set():
            try:
                over.wait()
            except KeyboardInterrupt:
                self._loop.call_soon_threadsafe(task.cancel)
        if task.cancelled():
            raise KeyboardInterrupt
        return task.result()

    def close(self) -> None:
        """What still goes on is cancelled."""
        self.carry_out(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
