"""Faults that the orchestrator carries out through the Docker API while a run is under way; then all is as it was.

What strikes one container happens one after the other, different containers side by side. A container with several
faults at once is down as long as one of them says so, and gets the product of their shares of a core.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import prod
from threading import Lock

from contract.fault_reports import Turn, fault_message
from orchestrator.control.containers import Containers, DockerRefused, NoDocker, Quota, cpu_share, open_containers
from orchestrator.control.fault_events import fault_event
from orchestrator.control.run_phase import Phase
from orchestrator.control.run_state import NetworkRunState
from orchestrator.experiment.faults import FaultError, kind_of
from pame.fault_effects import (
    ContainerKillEffect,
    ContainerRestartEffect,
    CpuQuotaEffect,
    FaultEvent,
    Plan,
    is_by_docker,
)

_DOCKER = "docker"
_LOOK_S = 0.05
_AT_ONCE = 8
_Key = tuple[int, int]
"""An event's place in the plan, and a node."""


def require_docker(plan: Plan, in_containers: bool) -> None:
    """FaultError if a plan needs Docker and there is none; `in_containers`: whether the nodes can be."""
    event = next(filter(is_by_docker, plan), None)
    if event is None:
        return
    what = f"faults.{event.number}: {kind_of(event)}"
    if any(is_by_docker(each) and each.window.unit == "iterations" for each in plan):
        raise FaultError(f"{what} goes by the clock, because a container that is down counts no iterations")
    try:
        if not in_containers:
            raise NoDocker("strikes containers, and these nodes are none: use docker compose, or --backend simulate")
        open_containers().close()
    except NoDocker as error:
        raise FaultError(f"{what} {error}") from None


@asynccontextmanager
async def container_faults(run: NetworkRunState) -> AsyncIterator[None]:
    """As long as this is open the plan is followed; afterwards no container is down or short of CPU because of it."""
    faults = _ContainerFaults(run)
    following = asyncio.create_task(faults.follow())
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait((following,))
        await faults.heal()
    if not following.cancelled():
        following.result()


@dataclass(eq=False)
class _Struck:
    """A container, and what is being done to it."""

    member: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    events: dict[_Key, FaultEvent] = field(default_factory=dict)
    before: Quota | None = None
    """What it had; None: it still has it."""

    def begin(self, containers: Containers, key: _Key, event: FaultEvent) -> None:
        """DockerRefused leaves it as it was."""
        match event.effect:
            case ContainerKillEffect() if not _is_down(self.events):
                containers.kill(self.member)
            case ContainerRestartEffect() if not _is_down(self.events):
                containers.stop(self.member)
            case CpuQuotaEffect():
                self.before = self.before or containers.quota(self.member)
                self._share(containers, {**self.events, key: event})
        self.events[key] = event

    def end(self, containers: Containers, key: _Key, event: FaultEvent) -> None:
        """DockerRefused leaves it as it was, so that one can try again."""
        left = {other: lasting for other, lasting in self.events.items() if other != key}
        if isinstance(event.effect, CpuQuotaEffect):
            self._share(containers, left)
        elif not _is_down(left):
            containers.start(self.member)
        self.events = left

    def _share(self, containers: Containers, events: dict[_Key, FaultEvent]) -> None:
        factors = [event.effect.factor for event in events.values() if isinstance(event.effect, CpuQuotaEffect)]
        if self.before is not None:
            containers.set_quota(self.member, cpu_share(1.0 / prod(factors)) if factors else self.before)


def _is_down(events: dict[_Key, FaultEvent]) -> bool:
    return any(isinstance(event.effect, ContainerKillEffect | ContainerRestartEffect) for event in events.values())


class _ContainerFaults:
    def __init__(self, run: NetworkRunState) -> None:
        self._run = run
        self._known = 0
        """So much of the plan has been looked at; it grows with faults by hand."""
        self._due: list[tuple[float, bool, int]] = []
        """When an event begins or ends, and its place in the plan; ends come first."""
        self._struck: dict[str, _Struck] = {}
        self._at: dict[_Key, _Struck] = {}
        """Whom an event has struck: others may have that index by now."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._containers: Containers | None = None
        self._opening = Lock()
        self._threads = ThreadPoolExecutor(_AT_ONCE)

    async def follow(self) -> None:
        """Until the run is about to end: whoever stops it may not wait for long, so that healing begins then."""
        while not self._run.is_ending:
            if self._run.phase is Phase.RUNNING:
                self._look(self._run.seconds())
            await asyncio.sleep(_LOOK_S)
        await self._end_all()

    async def heal(self) -> None:
        """Whatever is left, and the last chance for what did not work."""
        try:
            await self._end_all()
        finally:
            self._threads.shutdown(wait=False)
            if self._containers is not None:
                self._containers.close()

    async def _end_all(self) -> None:
        """Nothing begins any more, and what has begun ends."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        for struck in self._struck.values():
            for key, event in struck.events.items():
                self._later(struck, key, event, begins=False)
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _look(self, seconds: float) -> None:
        plan = self._run.plan
        for place, event in enumerate(plan[self._known :], start=self._known):
            if is_by_docker(event):
                heapq.heappush(self._due, (event.window.begin, True, place))
                heapq.heappush(self._due, (event.window.end, False, place))
        self._known = len(plan)
        while self._due and self._due[0][0] <= seconds:
            _, begins, place = heapq.heappop(self._due)
            self._strike(place, plan[place], begins)

    def _strike(self, place: int, event: FaultEvent, begins: bool) -> None:
        assert isinstance(event.effect, ContainerKillEffect | ContainerRestartEffect | CpuQuotaEffect)
        for node in event.effect.nodes:
            key = place, node
            if begins and (member := self._run.indices.member(node)) is not None:
                self._at[key] = self._struck.setdefault(member.name, _Struck(member.name))
                self._later(self._at[key], key, event, begins)
            elif not begins and key in self._at:
                self._later(self._at[key], key, event, begins)

    def _later(self, struck: _Struck, key: _Key, event: FaultEvent, begins: bool) -> None:
        task = asyncio.create_task(self._turn(struck, key, event, begins))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _turn(self, struck: _Struck, key: _Key, event: FaultEvent, begins: bool) -> None:
        run, node = self._run, key[1]
        async with struck.lock:
            if not begins and key not in struck.events:  # it never began
                return
            asked_at, act = run.seconds(), struck.begin if begins else struck.end
            failure = await self._do(lambda containers: act(containers, key, event))
        took = run.seconds() - asked_at
        turn = Turn(event, begins, asked_at, run.collection.iterations[node], _DOCKER, failure, took)
        run.record(fault_event(node, fault_message(run.number, turn)))

    async def _do(self, work: Callable[[Containers], None]) -> str:
        """In a thread; why it failed, if it did."""

        def ask() -> None:
            with self._opening:
                self._containers = self._containers or open_containers()
            work(self._containers)

        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except (DockerRefused, NoDocker) as error:
            return str(error)
        return ""
