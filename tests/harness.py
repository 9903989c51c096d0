"""What tests of every layer need: somebody who watches a run, and waiting for what takes a moment on a busy machine."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TYPE_CHECKING, TypeVar

from pame.observe import Evaluation, Record

if TYPE_CHECKING:
    from orchestrator.control import NetworkState

T = TypeVar("T")

BOUND_S = 60.0
"""For whatever takes a moment on a machine with time: it is never slept through, only waited for."""


class Watcher:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.points: list[Evaluation] = []
        self.records: list[Record] = []
        self.states: list[NetworkState] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self.records += records

    def state(self, state: "NetworkState") -> None:
        self.states.append(state)

    def by(self, curve: str) -> list[Evaluation]:
        return [point for point in self.points if point.by == curve]


async def until(condition: Callable[[], object], seconds: float = BOUND_S) -> None:
    """Poll; fail if it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this did not happen in time"
        await asyncio.sleep(0.01)


def poll(condition: Callable[[], object], seconds: float = BOUND_S) -> None:
    """The same without a loop."""
    asyncio.run(until(condition, seconds))


@contextmanager
def entered(loop: asyncio.Runner, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """For a fixture: opened and closed in the loop of the test."""
    value = loop.run(manager.__aenter__())
    try:
        yield value
    finally:
        loop.run(manager.__aexit__(None, None, None))
