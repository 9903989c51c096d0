"""When the effects of the plan begin and end at this node: told to the orchestrator; those on the process are ordered.

Links and steps ask for their conditions themselves. To be paused, killed or restarted, a node asks its parent
(`node.supervisor_client`), and every order carries its end. One by iteration is carried out before that iteration
begins.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf

from contract.fault_reports import IN_PROCESS, SUPERVISOR, Turn, concerns
from contract.realised import Realised
from contract.tasks import is_set
from node.supervisor import LONGEST_S, SOCKET_VARIABLE, SupervisorOrder
from node.supervisor_client import give
from pame.fault_effects import FaultEvent, KillEffect, PauseEffect, RestartEffect

_PARTING_S = 0.05
"""So that a node that is about to be killed can still tell."""
_ORDERS: dict[type, SupervisorOrder] = {
    PauseEffect: SupervisorOrder.PAUSE,
    KillEffect: SupervisorOrder.KILL,
    RestartEffect: SupervisorOrder.RESTART,
}


class FaultSchedule:
    """Looks at the clock and at the iteration, and tells what has changed."""

    def __init__(
        self,
        index: int,
        plan: Iterable[FaultEvent],
        tell: Callable[[Turn], None],
        mechanism: Callable[[FaultEvent], str] = lambda _: IN_PROCESS,
        seconds: float = 0.0,
        iteration: int = 0,
        run: str = "",
        limit: float = inf,
    ) -> None:
        """`mechanism`: what realises an effect on links or steps; what the kernel has a part in is told when it has
        acknowledged (`applied`). `seconds`, `iteration`: where this node begins; what was over before is not told
        again. `run`: its name; orders end with it. `limit`: an iteration that is not done any more; nothing begins
        with it."""
        self._index = index
        self._mechanism = mechanism
        self._tell = tell
        self._run = run
        self._limit = limit
        self._events = [event for event in plan if self._acts_in(event)]
        self._active: set[int] = set()
        self._over = {place for place, event in enumerate(self._events) if _is_past(event, seconds, iteration)}
        self._more = asyncio.Event()

    def add(self, events: Iterable[FaultEvent]) -> None:
        """More of them, by hand."""
        self._events += [event for event in events if self._acts_in(event)]
        self._more.set()

    async def follow(self, seconds: Callable[[], float], iteration: Callable[[], int]) -> None:
        """What goes by the clock, until cancelled; `look` is called at every iteration for the rest."""
        while True:
            self._more.clear()
            self.look(seconds(), iteration())
            for event in self._due("seconds", seconds()):
                await self._order(event, seconds, iteration)
            await is_set(self._more, self._next_turn(seconds()) - seconds())

    def is_struck(self, iteration: int) -> bool:
        """Whether there are orders for this node before it begins an iteration."""
        return any(self._is_due(place, "iterations", iteration) for place in range(len(self._events)))

    async def strike(self, iteration: int, seconds: Callable[[], float]) -> None:
        """Orders by iteration; the trainer begins it when they are over."""
        for event in self._due("iterations", iteration):
            await self._order(event, seconds, lambda: iteration)

    def look(self, seconds: float, iteration: int) -> None:
        """Tell what begins and ends without the kernel."""
        for turn in self._turns(seconds, iteration, by_kernel=False):
            self._tell(turn)

    def applied(
        self, seconds: float, iteration: int, took: float, held: Callable[[FaultEvent], Sequence[Realised]]
    ) -> None:
        """The kernel was told at this moment, and holds it: tell what it has a part in."""
        for turn in self._turns(seconds, iteration, by_kernel=True):
            missed = turn.begins and seconds >= turn.event.window.end
            failure = "it was over before the kernel held it" if missed else ""
            self._tell(replace(turn, took=took, held=held(turn.event), failure=failure))

    def _turns(self, seconds: float, iteration: int, by_kernel: bool) -> Iterator[Turn]:
        for place, event in enumerate(self._events):
            if type(event.effect) in _ORDERS or place in self._over:
                continue
            moment = iteration if event.window.unit == "iterations" else seconds
            begins = place not in self._active and moment >= event.window.begin
            ends = moment >= event.window.end
            if not (begins or ends) or ((mechanism := self._mechanism(event)) != IN_PROCESS) != by_kernel:
                continue
            if begins:
                self._active.add(place)
                yield Turn(event, True, seconds, iteration, mechanism)
            if ends:
                self._active.discard(place)
                self._over.add(place)
                yield Turn(event, False, seconds, iteration, mechanism)

    def _acts_in(self, event: FaultEvent) -> bool:
        is_beyond = event.window.unit == "iterations" and event.window.begin >= self._limit
        return concerns(event, self._index) and not is_beyond

    def _next_turn(self, seconds: float) -> float:
        """The next moment at which something begins or ends by the clock; inf: never."""
        turns = (
            moment
            for place, event in enumerate(self._events)
            if place not in self._over and event.window.unit == "seconds"
            for moment in (event.window.begin, event.window.end)
        )
        return min((moment for moment in turns if moment > seconds), default=inf)

    def _due(self, unit: str, moment: float) -> list[FaultEvent]:
        """Orders that are to be given now, each once."""
        due = [place for place in range(len(self._events)) if self._is_due(place, unit, moment)]
        self._over.update(due)
        return [self._events[place] for place in due]

    def _is_due(self, place: int, unit: str, moment: float) -> bool:
        event = self._events[place]
        is_order, window = type(event.effect) in _ORDERS, event.window
        return is_order and window.unit == unit and place not in self._over and moment >= window.begin

    async def _order(self, event: FaultEvent, seconds: Callable[[], float], iteration: Callable[[], int]) -> None:
        do, now, window = _ORDERS[type(event.effect)], seconds(), event.window
        if window.end <= now:
            return
        self._tell(Turn(event, True, now, iteration(), SUPERVISOR))
        await asyncio.sleep(_PARTING_S)
        path = os.environ.get(SOCKET_VARIABLE, "")
        try:
            lasts = window.end - seconds() if window.lasts_s is None else window.lasts_s
            answer = await asyncio.to_thread(give, path, do, max(min(lasts, LONGEST_S), 0.0), self._run)
            failure = "" if answer.get("done") else str(answer.get("why"))
        except (OSError, ValueError) as error:
            failure = f"no supervisor to {do} this node ({error})"
        if failure or isinstance(event.effect, PauseEffect):  # who is away comes back as another process, and says so
            self._tell(Turn(event, bool(failure), seconds(), iteration(), SUPERVISOR, failure))


def _is_past(event: FaultEvent, seconds: float, iteration: int) -> bool:
    """Also an order that was given to a former incarnation of this node."""
    moment = iteration if event.window.unit == "iterations" else seconds
    return moment >= event.window.end or (type(event.effect) in _ORDERS and moment > event.window.begin)
