"""Points measured in a thread, one after the other: models can be large, and the nodes must be heard meanwhile."""

import asyncio
from collections.abc import Callable, Iterable

from orchestrator.control.node_reports import NodeReports, UnmeasuredPoint
from pame.evaluate import Measured
from pame.observe import StoredModels


class EvaluationQueue:
    """The points of one run that wait to be measured and judged."""

    def __init__(self, collection: NodeReports) -> None:
        self._collection = collection
        self._waiting: asyncio.Queue[UnmeasuredPoint] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def add(self, points: Iterable[UnmeasuredPoint]) -> None:
        for point in points:
            self._waiting.put_nowait(point)

    def start(self, judge: Callable[[UnmeasuredPoint, Measured | StoredModels], bool]) -> None:
        """Begin to work; `judge` says whether a point was the last one."""
        self._task = asyncio.create_task(self._work(judge))

    async def finish(self, seconds: float) -> None:
        """Work off what waits, but not longer than this, and end."""
        if self._task is None:
            return
        emptied = asyncio.create_task(self._waiting.join())
        await asyncio.wait((self._task, emptied), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (self._task, emptied):
            task.cancel()
        await asyncio.gather(self._task, emptied, return_exceptions=True)

    async def _work(self, judge: Callable[[UnmeasuredPoint, Measured | StoredModels], bool]) -> None:
        while True:
            point = await self._waiting.get()
            measured = await asyncio.to_thread(self._collection.measure, point)
            if judge(point, measured):
                return
            self._waiting.task_done()
