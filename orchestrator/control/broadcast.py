"""One run, told to many watchers: what happened so far, then everything until the end; nobody can hold it up."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from typing import Any

from contract.rpc import experiments_pb2 as pb
from orchestrator.control.state import TOLD, NetworkState
from orchestrator.experiment import Experiment
from orchestrator.results import Ending
from orchestrator.results.health import Health
from pame.observe import Evaluation, Record

_POINTS = 5000
"""So many of the newest points are told to somebody who comes late."""
_WAITING = 1000
"""So many events may wait for a slow watcher; then some are dropped."""
_DROPPED_FIRST = ("network", "point")


class Broadcast:
    def __init__(self, run: int, experiment: Experiment, folder: str) -> None:
        """`folder`: the name of the run folder."""
        self.run = run
        self.folder = folder
        self._about = pb.Phase(
            run=run,
            name=experiment.name,
            folder=folder,
            nodes=experiment.nodes,
            iterations=experiment.stop.iterations or 0,
            seconds=experiment.stop.seconds or 0.0,
        )
        self._phase: pb.Event | None = None
        self._points: deque[pb.Event] = deque(maxlen=_POINTS)
        self._network: pb.Event | None = None
        self._ended: pb.Event | None = None
        self._watchers: set[_Backlog] = set()

    def evaluated(self, evaluation: Evaluation) -> None:
        event = pb.Event(point=pb.Point(**asdict(evaluation)))
        self._points.append(event)
        self._tell(event)

    def recorded(self, records: Sequence[Record]) -> None:
        """Nothing: `state` says how far the nodes are."""

    def state(self, state: NetworkState) -> None:
        if self._phase is None or self._phase.phase.phase != state.phase:
            self._phase = pb.Event(phase=self._about)
            self._phase.phase.phase = state.phase
            self._tell(self._phase)
        self._network = pb.Event(network=_network(state))
        self._tell(self._network)

    def ended(self, ending: Ending) -> None:
        """The last word; what became of faults belongs to it."""
        sentence = ending.faults.sentence if ending.faults else ""
        self._ended = pb.Event(
            ended=pb.Ended(
                status=ending.status.value,
                reason="; ".join(filter(None, (ending.reason, sentence))),
                iterations=ending.iterations,
                seconds=ending.seconds or 0.0,
                exact=ending.exact,
                **_health(ending.health),
            )
        )
        self._tell(self._ended)

    async def watch(self) -> AsyncIterator[pb.Event]:
        """The phase it is in, the points so far, and what is still to come."""
        backlog = _Backlog()
        self._watchers.add(backlog)
        past = [self._phase, *self._points, self._network, self._ended]
        try:
            for event in past:
                if event is not None:
                    yield event
            while past[-1] is None:
                event = await backlog.next()
                yield event
                if event.WhichOneof("kind") == "ended":
                    return
        finally:
            self._watchers.discard(backlog)

    def _tell(self, event: pb.Event) -> None:
        for watcher in self._watchers:
            watcher.add(event)


class _Backlog:
    """What one watcher has not taken yet."""

    def __init__(self) -> None:
        self._events: deque[pb.Event] = deque()
        self._news = asyncio.Event()

    def add(self, event: pb.Event) -> None:
        self._events.append(event)
        if len(self._events) > _WAITING:
            self._drop_one()
        self._news.set()

    async def next(self) -> pb.Event:
        while not self._events:
            self._news.clear()
            await self._news.wait()
        return self._events.popleft()

    def _drop_one(self) -> None:
        """The oldest look at the network; if there is none, the oldest point. Phases and the end are few, and stay."""
        for kind in _DROPPED_FIRST:
            for place, event in enumerate(self._events):
                if event.WhichOneof("kind") == kind:
                    del self._events[place]
                    return


def _network(state: NetworkState) -> pb.Network:
    told: dict[str, Any] = {name: getattr(state, name) for name in TOLD}
    return pb.Network(**told | _health(state.health))


def _health(health: Health | None) -> dict[str, str]:
    return {"health": health.state.value, "health_reason": health.reason} if health else {}
