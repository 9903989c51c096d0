"""Experiments that wait for their turn because a run is under way: in the order in which they came, not too many."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.errors import QueueFull
from orchestrator.experiment import Experiment
from orchestrator.experiment.named_files import Files

MOST = 20


@dataclass(frozen=True)
class QueuedExperiment:
    number: int
    """Of those that waited here: nobody else's."""
    experiment: Experiment
    files: Files
    """Where those are that it names."""


class SubmissionQueue:
    """To be used in one event loop."""

    def __init__(self) -> None:
        self._waiting: list[QueuedExperiment] = []
        self._last = 0
        self._filled = asyncio.Event()

    @property
    def waiting(self) -> Sequence[QueuedExperiment]:
        return tuple(self._waiting)

    def add(self, experiment: Experiment, files: Files) -> QueuedExperiment:
        if len(self._waiting) >= MOST:
            raise QueueFull(f"{MOST} experiments wait already: take one out of the queue, or wait until one has begun")
        self._last += 1
        queued = QueuedExperiment(self._last, experiment, files)
        self._waiting.append(queued)
        self._filled.set()
        return queued

    def remove(self, number: int) -> bool:
        """Whether it was still there."""
        kept = [queued for queued in self._waiting if queued.number != number]
        was_there = len(kept) < len(self._waiting)
        self._waiting = kept
        return was_there

    def empty(self) -> int:
        """How many there were."""
        count, self._waiting = len(self._waiting), []
        return count

    def take(self) -> QueuedExperiment | None:
        """The first one, if there is any; it waits here no longer."""
        return self._waiting.pop(0) if self._waiting else None

    def put_back(self, queued: QueuedExperiment) -> None:
        """Its turn has not come yet."""
        self._waiting.insert(0, queued)
        self._filled.set()

    async def filled(self) -> None:
        """Wait until there is one."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
