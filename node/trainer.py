"""The training loop of one node in one run: send, wait, aggregate, step, again.

It drives the algorithm object that the simulators drive, through the same `Participant`, under the real clock. Its
iterations begin when they are due by the `IterationClock`. What there is to do is done as soon as it can be: the
message of an iteration is made before the node sleeps until it is due, and its links let it go in time.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from math import inf

import numpy as np

from contract.assignment import Assigned
from contract.counters import InCounters, NodeCounters
from node.conditions import NodeConditions
from node.fault_schedule import FaultSchedule
from node.iteration_clock import IterationClock
from node.link import OutLink
from node.wire_message import MessageChecks, WireMessageRefused, pack
from pame.algorithms import Delivery, Received, Selection, Wanted
from pame.conditions import Loss
from pame.exchange import Vector
from pame.message_check import MessageCheck
from pame.observe import Record
from pame.participant import Participant, Sent
from pame.value_bound import absurd_from, is_absurd

_KEPT_BYTES = 64 * 2**20
_KEPT_AT_LEAST = 8
_LONG_STEP_S = 0.005
"""A step that takes longer runs in a thread, so that receipts and heartbeats go on meanwhile."""

Snapshot = Callable[[int, Vector], None]


class Trainer:
    """One node's algorithm under the clock of this machine."""

    def __init__(
        self,
        assigned: Assigned,
        links: Mapping[int, OutLink],
        conditions: NodeConditions,
        account: NodeCounters,
        recorded: Callable[[Record], None],
        snapshot: Snapshot,
        room: Callable[[], Awaitable[bool]],
        faults: FaultSchedule,
    ) -> None:
        """`room`: waits until the orchestrator can take a snapshot; False if it cannot be reached."""
        setting, index = assigned.setting, assigned.index
        self._assigned = assigned
        self._setting = setting
        self._selection: Selection = setting.selection()
        self._algorithm = setting.node(index, self._selection, assigned.start, assigned.first)
        self._check = MessageCheck(setting, [self._algorithm])
        self._participant = Participant(setting, index, self._algorithm)
        self._participant.k = assigned.first
        self._links = links
        self._conditions = conditions
        self._account = account
        self._recorded = recorded
        self._snapshot = snapshot
        self._room = room
        self._faults = faults
        self._newest = assigned.first
        """The iteration of the model: counted up by each step, before any waiting."""
        self._model = self._algorithm.model
        """Of that iteration; the algorithm's own may be ahead of it."""
        self._lost: int | None = None
        """How many messages of the next iteration were lost on purpose; None: they are not sent yet."""
        self._failure: Exception | None = None
        """Why they could not be sent: told when that iteration begins."""
        self._kept: OrderedDict[int, Vector] = OrderedDict()
        self._result: Vector | None = None
        self._wake = asyncio.Event()
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._patience: asyncio.Timeout | None = None
        """Of the wait that is under way."""
        self._held_s = 0.0
        """For how long it was held in all."""
        self._began = time.monotonic()
        self._clock = IterationClock(self._began)
        self._arrived = self._began
        """When the newest message arrived."""
        self._last_step_s = 0.0
        self._overtime_s = 0.0
        """How long a step lasts at least in overtime: as an iteration did, so that others get their turn."""
        self._late = 0
        """Messages that became late since the last record."""
        self._told, self._told_bytes = 0, 0
        """Sent, by the records so far."""
        self._absurd_from = inf
        for peer in assigned.peers:
            account.into.setdefault(peer.index, InCounters())
        self.checks = MessageChecks(
            setting,
            assigned.run,
            index,
            self._selection,
            self._algorithm,
            {peer.index: peer.incarnation for peer in assigned.peers},
            {peer.index: peer.name for peer in assigned.peers} if assigned.tls else None,
        )

    async def measure(self) -> None:
        """Draw the data, and learn from it which values are absurd; in a thread, because it may take a while."""
        objective = self._setting.problem.local(self._assigned.index)
        with suppress(Exception):  # the first step will meet the same mistake, and tell of it
            self._absurd_from = await asyncio.to_thread(absurd_from, objective, self._setting.start)

    def greet(self, neighbour: int) -> None:
        """A neighbour came back and knows nothing of this node."""
        self._algorithm.greet(neighbour)

    def arrive(self, data: bytes, name: str | None = None) -> int:
        """A message arrives from whom a certificate names so; how many of its sender were late so far."""
        try:
            received = self.checks.open(data, name)
        except WireMessageRefused as refused:
            known = self._account.into.get(refused.sender) if refused.sender is not None else None
            (known or self._account).refuse(refused.code)
            if known:
                known.refused_detail = str(refused)
            raise
        link = self._account.into[received.sender]
        link.received += 1
        link.received_bytes += received.size
        link.absurd += is_absurd(received.message, self._absurd_from)
        link.suspect = False
        self._arrived = time.monotonic()
        self._participant.deliver(received, self._arrived)
        self._count_unused()  # now: what was evicted must not pile up during a long step
        self._wake.set()
        return link.late

    async def run(self, done: Callable[[], None]) -> None:
        """Iterate; `done` is called once, when w^K is there. In `free` a node goes on in overtime until cancelled."""
        participant, last = self._participant, self._setting.stop.last_iteration
        started = time.monotonic()
        self._began = started - self._assigned.seconds
        self._clock = IterationClock(started)
        self._conditions.begin(self._assigned.seconds)
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging run says so in one sentence
            while True:
                k = participant.k
                self._account.iteration = k
                self._faults.look(self._conditions.seconds(), k)
                await self._keep_snapshot(k)
                if k == last:
                    self._result = self._model
                    self._overtime_s = (time.monotonic() - started) / max(1, k - self._assigned.first)
                    done()
                if self._is_over(k):
                    return
                await self._begin(k)
                await self._iterate(k)
                participant.k += 1

    def hold(self, is_held: bool) -> None:
        """No iteration begins, and no wait runs out; then both go on, with the whole of their patience."""
        stood = self._conditions.hold(is_held)
        self._began += stood
        self._held_s += stood
        loop = asyncio.get_running_loop()
        if is_held:
            self._goes_on.clear()
        else:
            self._goes_on.set()
        if self._patience is not None:
            self._patience.reschedule(None if is_held else loop.time() + self._participant.patience.seconds())

    def result(self, at: int) -> tuple[int, Vector]:
        """w^at if it is still known; else w^K, or the newest there is. With its iteration."""
        last = self._setting.stop.last_iteration
        if at == last and self._result is not None:
            return last, self._result
        if at in self._kept:
            return at, self._kept[at]
        if self._result is not None:
            return last, self._result
        return self._newest, self._model

    def _is_over(self, k: int) -> bool:
        """Whether this iteration is not done any more."""
        return k >= self._setting.stop.last_iteration and self._setting.exchange.waits

    async def _begin(self, k: int) -> None:
        """What stops the node at this iteration does so now; then its message goes, if it has not gone ahead."""
        if not self._goes_on.is_set():
            self._clock.pause(time.monotonic())
            await self._goes_on.wait()
            now = time.monotonic()
            self._clock.resume(now, now)
        if self._faults.is_struck(k):
            self._clock.pause(time.monotonic())
            await self._faults.strike(k, self._conditions.seconds)
            now = time.monotonic()
            self._clock.resume(now, now)
        if self._failure is not None:
            raise self._failure
        if self._lost is None:
            self._lost = await self._send(k)

    async def _iterate(self, k: int) -> None:
        participant, account, clock = self._participant, self._account, self._clock
        wanted = self._algorithm.wanted(k)
        participant.begin(clock.due, wanted, self._lost_senders(k, wanted))
        began, held_s = clock.due, self._held_s
        clock.pause(time.monotonic())
        waited_until = await self._wait(began)
        clock.resume(time.monotonic(), waited_until)
        waited_s = max(waited_until - began - (self._held_s - held_s), 0.0)
        account.wait_s += waited_s
        received = participant.end_of_wait(began + waited_s)
        if wanted is not None:
            self._aggregate(k, wanted, received)
        await self._step(k)
        sent = self._sent_since(self._lost or 0)
        await self._send_ahead(k + 1)
        await self._sleep(k)
        self._count_unused()
        late, self._late = self._late, 0
        for sender in participant.suspects():
            account.into[sender].suspect = True
        self._recorded(participant.record(time.monotonic() - self._began, late, sent))

    async def _send_ahead(self, k: int) -> None:
        """Make the message of the next iteration and give it to the links, which keep it until it is due."""
        self._lost = None
        if self._is_over(k) or self._faults.is_struck(k):
            return
        try:
            self._lost = await self._send(k)
        except Exception as error:  # this iteration has its record first
            self._failure = error

    async def _sleep(self, k: int) -> None:
        """Until the next iteration is due."""
        overran = self._clock.rest(time.monotonic())
        await asyncio.sleep(max(self._clock.due - time.monotonic(), 0.0))
        overslept = self._clock.wake(time.monotonic())
        self._account.overran += (overran or overslept) and k < self._setting.stop.last_iteration

    async def _send(self, k: int) -> int:
        """Push the message of iteration k to whoever listens; how many were lost on purpose instead."""
        self._algorithm.prepare(k)
        receivers = self._algorithm.receivers(k)
        if not receivers:
            return 0
        setting, assigned = self._setting, self._assigned
        message = self._algorithm.message(k)
        self._check.look(assigned.index, k, message)
        packed = pack(setting, assigned.run, assigned.index, assigned.incarnation, k, message)
        lost = 0
        for receiver in receivers:
            account = self._account.out[receiver]
            loss = self._conditions.loss(receiver, k, self._clock.due)
            if loss is not Loss.NONE:
                account.lost += 1
                account.lost_bytes += packed.sizes.total
                lost += 1
                if loss is Loss.UNFORESEEN:
                    self._algorithm.missed(receiver, k)
                continue
            if self._algorithm.delivery is Delivery.IN_ORDER:
                await self._wait_for_room(receiver)
            for dropped in self._links[receiver].push(packed, self._clock.due if self._clock.is_timed else None):
                self._algorithm.missed(receiver, dropped.iteration)
            account.overtime += k >= setting.stop.last_iteration
        return lost

    async def _wait_for_room(self, receiver: int) -> None:
        """If there is none, the neighbour holds this node up: that is no work of its own."""
        link = self._links[receiver]
        has_room = link.has_room
        self._clock.pause(time.monotonic())
        await link.room(self._participant.patience.seconds())
        now = time.monotonic()
        self._clock.resume(now, self._clock.due if has_room else now)

    def _sent_since(self, lost: int) -> Sent:
        """Since the last record, by the links' own count, which a link that breaks sets back: then none for a while."""
        counts = [link.counted() for link in self._links.values()]
        messages = max(sum(count for count, _ in counts) - self._told, 0)
        size = max(sum(count for _, count in counts) - self._told_bytes, 0)
        self._told += messages
        self._told_bytes += size
        return Sent(messages, size, lost)

    def _lost_senders(self, k: int, wanted: Wanted | None) -> Sequence[int]:
        """The senders whose message is lost on purpose, which both ends can compute."""
        senders = wanted.senders if wanted else ()
        return [j for j in senders if self._conditions.will_not_come(j, k)]

    async def _wait(self, began: float) -> float:
        """Until the round has what it needs, or patience runs out; when that was, which may be before now."""
        participant = self._participant
        if participant.satisfied():
            await asyncio.sleep(0)  # whatever happens, receipts and reports get their turn
            is_round = participant.waiting is not None and self._setting.exchange.waits
            return max(began, self._arrived) if is_round else began
        try:
            async with asyncio.timeout(participant.patience.seconds() if self._goes_on.is_set() else None) as patience:
                self._patience = patience
                while not participant.satisfied():
                    self._wake.clear()
                    await self._wake.wait()
            return max(began, self._arrived)
        except TimeoutError:
            participant.expire()
            self._account.expired += 1
            return time.monotonic()
        finally:
            self._patience = None

    def _aggregate(self, k: int, wanted: Wanted, received: Sequence[Received]) -> None:
        participant, account = self._participant, self._account
        start = time.perf_counter()
        participant.coverage = account.coverage = self._algorithm.absorb(k, received)
        account.aggregate_s += time.perf_counter() - start
        account.staleness = participant.staleness
        participant.starved = wanted.enough > 0 and not received
        account.starved += participant.starved
        account.rounds += 1
        account.desynchronised = self._algorithm.desynchronised
        account.wanted += wanted.enough
        account.averaged += len(received)
        for message in received:
            account.into[message.sender].aggregated += 1

    async def _step(self, k: int) -> None:
        """Take the step; what follows is due when its nominal time is over."""
        setting, account = self._setting, self._account
        start = time.perf_counter()
        if self._last_step_s > _LONG_STEP_S:
            await asyncio.to_thread(self._algorithm.step, k)
        else:
            self._algorithm.step(k)
        self._newest, self._model = k + 1, self._algorithm.model
        self._last_step_s = time.perf_counter() - start
        account.steps += k < setting.stop.last_iteration
        account.step_s += self._last_step_s
        self._clock.step(max(self._conditions.step_seconds(k, self._clock.due), self._overtime_s))

    def _count_unused(self) -> None:
        late, evicted = self._participant.unused()
        for message in late:
            link = self._account.into[message.sender]
            link.late += 1
            link.late_bytes += message.size
        for message in evicted:
            self._account.into[message.sender].evicted += 1
        self._late += len(late)

    async def _keep_snapshot(self, k: int) -> None:
        """Send w^k, and keep it in case the run ends with it. A slow orchestrator is waited for, an absent one not."""
        if k > self._setting.stop.last_iteration or not self._assigned.snapshot_due(k):
            return
        self._kept[k] = self._model
        if len(self._kept) > max(_KEPT_AT_LEAST, _KEPT_BYTES // self._model.nbytes):
            self._kept.popitem(last=False)
        if await self._room():
            self._snapshot(k, self._model)
