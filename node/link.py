"""An outgoing link: what is pushed waits its turn, takes its time, and goes over a stream to a neighbour.

    push -> queue (`link_queue`) -> wire (`emulated_wire`) -> gRPC (`link_stream`) -> receipt (`receipt_times`)

A message is pushed with the moment at which it is sent, which may be a little later or earlier than now: it waits in
the queue until then, and on the wire until it should arrive. It is sent when gRPC has taken it for the first time;
until then it is queued, unless it is dropped. When a stream breaks, what was not acknowledged goes again, and is
counted apart.

At most max(2 messages, 2 x bandwidth-delay product) are between the queue and their receipt: what waits in our own
queue can still be dropped, what gRPC has cannot. Nobody ever waits for a slow receiver but its own link.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from math import inf

from contract.assignment import Peer
from contract.counters import OutCounters
from contract.credentials import Credentials
from contract.refusals import refusal_name
from contract.rpc import exchange_pb2 as pb
from contract.tasks import is_set
from node.conditions import NodeConditions
from node.emulated_wire import AHEAD_S, EmulatedWire
from node.link_queue import QUEUE_MESSAGES, LinkQueue, Outgoing
from node.link_stream import PUSH, LinkStream, PushCall
from node.receipt_times import ReceiptTimes
from node.wire_message import WireMessage

_STALLED_AFTER_S = 2.0
_STALLED_AFTER_TRIPS = 4.0


class OutLink(LinkStream):
    def __init__(
        self,
        peer: Peer,
        limit: int,
        conditions: NodeConditions,
        account: OutCounters,
        credentials: Credentials | None = None,
        method: str = PUSH,
        secret: bytes = b"",
    ) -> None:
        """`limit`: the largest message in bytes; `conditions`: what the link does, and when nothing gets through;
        `credentials`: what to show to a receiver that must be who the assignment says; `method`: of the service;
        `secret`: of the run, which every stream shows."""
        super().__init__(peer, limit, credentials, method, secret)
        self._receiver = peer.index
        self._conditions = conditions
        self._account = account
        self._queue = LinkQueue()
        self._wire = EmulatedWire(peer.index, conditions)
        self._flights: deque[Outgoing] = deque()
        """Handed to gRPC, not yet acknowledged."""
        self._times = ReceiptTimes()
        self._acknowledged = 0
        self._acknowledged_bytes = 0
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._is_broken = False
        """A stream ended, and nothing was acknowledged since."""
        self._progress_at = time.monotonic()
        """When something was last acknowledged, or handed over while nothing else was under way."""
        self._is_hopeless = False
        """Somebody has waited for room in vain; nobody does again until there is some."""

    def push(self, message: WireMessage, at: float | None = None) -> Sequence[WireMessage]:
        """Take a message that is sent at a moment; an overflow drops the oldest that wait. Those that were dropped."""
        account = self._account
        account.queued += 1
        account.queued_bytes += message.sizes.total
        dropped = self._queue.push(Outgoing(message, time.monotonic() if at is None else at))
        for old in dropped:
            if not old.is_sent:  # one that waits to be sent again stays a sent one
                self._leave_queue(old.message)
                account.dropped += 1
                account.dropped_bytes += old.message.sizes.total
        self._look_for_room()
        self._wake.set()
        return [old.message for old in dropped]

    def counted(self) -> tuple[int, int]:
        """Messages and bytes that were handed over, or are on their way there.

        What waits behind a broken stream, a cut or a receiver that no longer answers may never be.
        """
        account = self._account
        messages, size = account.sent, account.bytes
        if account.queued and self._flows():
            return messages + account.queued, size + account.queued_bytes
        return messages, size

    @property
    def has_room(self) -> bool:
        """Whether the queue can take one more without dropping any."""
        return self._room.is_set()

    async def room(self, seconds: float) -> None:
        """Wait until the queue can take one more without dropping any (for delivery in order), at most so long."""
        if self._is_hopeless and not self._room.is_set():
            return
        self._is_hopeless = not await is_set(self._room, seconds)

    async def drain(self, seconds: float) -> None:
        """Wait until everything is acknowledged, but not longer than this."""
        deadline = time.monotonic() + seconds
        while not self.is_idle and time.monotonic() < deadline:
            await asyncio.sleep(0.005)

    @property
    def is_idle(self) -> bool:
        return not (self._queue or self._wire.entries or self._flights)

    def taken_off_s(self) -> float:
        """How much earlier than it should arrive a message goes to gRPC."""
        return self._wire.taken_off_s(self._times.way_s)

    @property
    def shortest_s(self) -> float:
        """The shortest time from leaving the queue to a receipt; inf: there was none."""
        return self._times.shortest_s

    def _flows(self) -> bool:
        patience_s = max(_STALLED_AFTER_S, self._times.trips_s(_STALLED_AFTER_TRIPS))
        is_stalled = self._flights and time.monotonic() - self._progress_at > patience_s
        return not (self._is_broken or is_stalled or self._conditions.is_cut(self._receiver))

    def opened(self) -> None:
        """Receipts count anew."""
        self._account.connects += 1
        self._acknowledged = 0
        self._acknowledged_bytes = 0

    async def write(self, call: PushCall) -> None:
        """Hand over to gRPC what is due, one after the other."""
        loop = asyncio.get_running_loop()
        while True:
            self._wake.clear()
            self._fill_wire()
            now, turn = time.monotonic(), self._wire.handover_at(self._times.way_s)
            if turn <= now:
                head = self._wire.entries.popleft()
                if not self._flights:
                    self._progress_at = now
                head.handed_at, head.overdue_s = now, now - max(turn, head.left_at)
                self._flights.append(head)
                await call.write(head.message.data)
                self._count(head)
                continue
            if self._queue and self._has_window():
                turn = min(turn, self._queue.first.at - AHEAD_S)
            alarm = loop.call_at(turn, self._wake.set) if turn < inf else None
            await self._wake.wait()
            if alarm:
                alarm.cancel()

    def _count(self, entry: Outgoing) -> None:
        """gRPC has taken it: sent, or sent again. Its receipt may be here before gRPC says so."""
        if entry.is_counted:
            return
        account, message = self._account, entry.message
        account.protobuf_bytes += message.protobuf_bytes
        if entry.is_sent:
            account.resent += 1
            account.resent_bytes += message.sizes.total
        else:
            self._leave_queue(message)
            account.send(message.sizes)
        entry.is_sent = entry.is_counted = True

    def _leave_queue(self, message: WireMessage) -> None:
        self._account.queued -= 1
        self._account.queued_bytes -= message.sizes.total

    def _fill_wire(self) -> None:
        """From the queue onto the wire what is sent about now, as far as the window allows."""
        now, held_s = time.monotonic(), self._conditions.held_for(self._receiver)
        while self._queue and self._queue.first.at - AHEAD_S <= now and self._has_window():
            entry = self._queue.pop()
            entry.acknowledged_before = self._acknowledged_bytes
            self._wire.put(entry, now, held_s)

    def _look_for_room(self) -> None:
        """What is under way counts, because it waits again if the stream breaks."""
        if len(self._queue) + len(self._wire.entries) + len(self._flights) < QUEUE_MESSAGES:
            self._room.set()
        else:
            self._room.clear()

    def _has_window(self) -> bool:
        under_way = [*self._flights, *self._wire.entries]
        if len(under_way) < 2:
            return True
        window = self._times.window_bytes(self._conditions.link(self._receiver).rate_bps)
        return sum(entry.size for entry in (*under_way, self._queue.first)) <= window

    def received(self, receipt: pb.Receipt) -> None:
        """Messages are acknowledged, or refused."""
        account = self._account
        account.receipts += 1
        self._is_broken, self._progress_at = False, time.monotonic()
        account.sent_late = max(account.sent_late, receipt.late)
        for refused in receipt.refused:
            account.refuse(refusal_name(refused.refusal))
        self._settle(receipt.seen)
        self._look_for_room()
        self._wake.set()

    def _settle(self, seen: int) -> None:
        """Messages up to this number are acknowledged; the newest of them tells the round trip and the rate."""
        newest = None
        while self._acknowledged < seen and self._flights:
            newest = self._flights.popleft()
            self._count(newest)
            self._acknowledged += 1
            self._acknowledged_bytes += newest.size
            self._account.acknowledged += 1
        if newest is not None:
            now, is_first = time.monotonic(), self._acknowledged == 1
            self._account.return_after(self._times.add(newest, now, self._acknowledged_bytes, is_first))

    def broken(self) -> None:
        """What was under way when the stream broke waits again, in front; a copy that did arrive will be refused."""
        self._is_broken = True
        under_way = [*self._flights, *self._wire.clear()]
        for entry in under_way:
            entry.is_counted, entry.at = False, time.monotonic()
        self._flights.clear()
        self._queue.put_back(under_way)
