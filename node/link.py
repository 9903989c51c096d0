"""An outgoing link: a bounded queue, an emulated wire, and a stream to a neighbour that is opened anew when it breaks.

    push -> queue (bounded; `latest`: overflow drops the oldest) -> wire (in-process shaper) -> gRPC -> receipt

A parcel is pushed with the moment at which it is sent, which may be a little later or earlier than now: it waits in the
queue until then, and on the wire until it should arrive. gRPC gets it earlier, by what the way through this machine
takes: the time by which it is handed over too late, and half of the time to a receipt. It is the median of many, for
one that follows the last few would itself be jitter. Not so if the kernel has a hand in the link, because receipts
would then tell of that.

A parcel is sent when gRPC has taken it for the first time; until then it is queued, unless it is dropped. When a stream
breaks, what was not acknowledged goes again, and is counted apart.

At most max(2 messages, 2 x bandwidth-delay product) are between the queue and their receipt: what waits in our own
queue can still be dropped, what gRPC has cannot. Nobody ever waits for a slow receiver but its own link.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median_low

import grpc

from contract.assignment import Peer
from contract.counters import OutCounters
from contract.credentials import Credentials, expecting, mutual_channel
from contract.refusals import refusal_name
from contract.rpc import exchange_pb2 as pb
from node.conditions import Conditions
from node.stream_proof import shown
from node.wire_message import WireMessage
from pame.links import LinkState, send

PUSH = "/pame.v1.Exchange/Push"
PROBE = "/pame.v1.Exchange/Probe"
QUEUE_MESSAGES = 64
QUEUE_BYTES = 64 * 2**20
AHEAD_S = 0.005
"""At most so long before its moment a parcel leaves the queue, and so much of the way is taken off its delay."""
_FIRST_BACKOFF_S = 0.05
_LONGEST_BACKOFF_S = 1.0
_STALLED_AFTER_S = 2.0
_STALLED_AFTER_TRIPS = 4.0
_REMEMBERED = 16
_WAYS_REMEMBERED = 64


@dataclass(slots=True)
class _Entry:
    """A parcel that waits or is under way; the times are those of its last departure from the queue."""

    parcel: WireMessage
    at: float
    """When it is sent: it does not leave the queue before."""
    is_sent: bool = False
    """Handed to gRPC, on this stream or an earlier one."""
    is_counted: bool = False
    """Handed to gRPC on this stream, and in the account."""
    left_at: float = 0.0
    """The queue."""
    arrives_at: float = 0.0
    """When it should."""
    handed_at: float = 0.0
    """To gRPC."""
    overdue_s: float = 0.0
    """How much too late that was, through no fault of whoever pushed it."""
    acknowledged_before: int = 0
    """Bytes acknowledged on this stream when it left."""


class OutLink:
    """One directed link to a neighbour."""

    def __init__(
        self,
        peer: Peer,
        limit: int,
        weather: Conditions,
        account: OutCounters,
        credentials: Credentials | None = None,
        method: str = PUSH,
        secret: bytes = b"",
    ) -> None:
        """`limit`: the largest parcel in bytes; `weather`: what the link does, and when nothing gets through;
        `credentials`: what to show to a receiver that must be who the assignment says; `method`: of the service;
        `secret`: of the run, which every stream shows."""
        self._method = method
        self._secret = secret
        self._peer = peer
        self._limit = limit
        self._weather = weather
        self._account = account
        self._credentials = credentials
        self._queue: deque[_Entry] = deque()
        self._queued_bytes = 0
        self._wire: deque[_Entry] = deque()
        """On the emulated wire: left the queue, not yet handed to gRPC."""
        self._flights: deque[_Entry] = deque()
        """Handed to gRPC, not yet acknowledged."""
        self._state = LinkState()
        self._acknowledged = 0
        self._acknowledged_bytes = 0
        self._rates: deque[float] = deque(maxlen=_REMEMBERED)
        self._ways: deque[float] = deque(maxlen=_WAYS_REMEMBERED)
        """What the last parcels took to arrive, without the wire."""
        self._way_s = 0.0
        """Half of them took at most so long."""
        self._shortest_s = inf
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._is_broken = False
        """A stream ended, and nothing was acknowledged since."""
        self._progress_at = time.monotonic()
        """When something was last acknowledged, or handed over while nothing else was under way."""
        self._is_hopeless = False
        """Somebody has waited for room in vain; nobody does again until there is some."""
        self._call: grpc.aio.StreamStreamCall[bytes, pb.Receipt] | None = None
        self._task = asyncio.create_task(self._run())

    def push(self, parcel: WireMessage, at: float | None = None) -> Sequence[WireMessage]:
        """Take a parcel that is sent at a moment; an overflow drops the oldest that wait. Those that were dropped."""
        account, dropped = self._account, []
        self._queue.append(_Entry(parcel, time.monotonic() if at is None else at))
        self._queued_bytes += len(parcel.data)
        account.queued += 1
        account.queued_bytes += parcel.sizes.total
        while len(self._queue) > QUEUE_MESSAGES or (self._queued_bytes > QUEUE_BYTES and len(self._queue) > 1):
            old = self._queue.popleft()
            dropped.append(old.parcel)
            self._queued_bytes -= len(old.parcel.data)
            if not old.is_sent:  # one that waits to be sent again stays a sent one
                self._leave_queue(old.parcel)
                account.dropped += 1
                account.dropped_bytes += old.parcel.sizes.total
        self._look_for_room()
        self._wake.set()
        return dropped

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
        try:
            async with asyncio.timeout(seconds):
                await self._room.wait()
            self._is_hopeless = False
        except TimeoutError:
            self._is_hopeless = True

    def move(self, peer: Peer) -> None:
        """The neighbour came back somewhere else: connect anew."""
        self._peer = peer
        if self._call is not None:
            self._call.cancel()

    async def drain(self, seconds: float) -> None:
        """Wait until everything is acknowledged, but not longer than this."""
        deadline = time.monotonic() + seconds
        while not self.is_idle and time.monotonic() < deadline:
            await asyncio.sleep(0.005)

    @property
    def is_idle(self) -> bool:
        """Whether everything is acknowledged."""
        return not (self._queue or self._wire or self._flights)

    def taken_off_s(self) -> float:
        """How much earlier than it should arrive a parcel goes to gRPC."""
        return min(self._way_s, AHEAD_S) if self._weather.is_emulated(self._peer.index) else 0.0

    @property
    def shortest_s(self) -> float:
        """The shortest time from leaving the queue to a receipt; inf: there was none."""
        return self._shortest_s

    async def close(self) -> None:
        """Stop; what still waits is lost."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _flows(self) -> bool:
        trips = _STALLED_AFTER_TRIPS * self._shortest_s if self._rates else 0.0
        is_stalled = self._flights and time.monotonic() - self._progress_at > max(_STALLED_AFTER_S, trips)
        return not (self._is_broken or is_stalled or self._weather.is_cut(self._peer.index))

    async def _run(self) -> None:
        """Stream after stream; the pause between two grows to a second, and is short again after a success."""
        backoff = _FIRST_BACKOFF_S
        while True:
            before = self._account.receipts
            try:
                await self._stream()
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                pass  # the latter is gRPC's word for writing to a stream that has just ended
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
            self._requeue()
            backoff = _FIRST_BACKOFF_S if self._account.receipts > before else min(2 * backoff, _LONGEST_BACKOFF_S)
            await asyncio.sleep(backoff)

    async def _stream(self) -> None:
        options = [
            ("grpc.max_send_message_length", self._limit),
            ("grpc.max_receive_message_length", self._limit),
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_http_proxy", 0),
        ]
        async with self._channel(options) as channel:
            push: grpc.aio.StreamStreamMultiCallable[bytes, pb.Receipt]
            push = channel.stream_stream(self._method, None, pb.Receipt.FromString)
            self._call = call = push(metadata=shown(self._secret, self._peer.address, self._peer.incarnation))
            self._account.connects += 1
            reading = asyncio.create_task(self._read(call))
            writing = asyncio.create_task(self._write(call))
            try:
                done, _ = await asyncio.wait((reading, writing), return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                self._call = None
                call.cancel()
                for task in (reading, writing):
                    task.cancel()
                await asyncio.gather(reading, writing, return_exceptions=True)

    def _channel(self, options: list[tuple[str, int]]) -> grpc.aio.Channel:
        if self._credentials is None:
            return grpc.aio.insecure_channel(self._peer.address, options=options)
        shown = mutual_channel(self._credentials)
        return grpc.aio.secure_channel(self._peer.address, shown, options=[*options, *expecting(self._peer.name)])

    async def _write(self, call: "grpc.aio.StreamStreamCall[bytes, pb.Receipt]") -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._wake.clear()
            self._fill_wire()
            now, turn = time.monotonic(), self._handover_at()
            if turn <= now:
                head = self._wire.popleft()
                if not self._flights:
                    self._progress_at = now
                head.handed_at, head.overdue_s = now, now - max(turn, head.left_at)
                self._flights.append(head)
                await call.write(head.parcel.data)
                self._count(head)
                continue
            turn = min(turn, self._filling_at())
            alarm = loop.call_at(turn, self._wake.set) if turn < inf else None
            await self._wake.wait()
            if alarm:
                alarm.cancel()

    def _handover_at(self) -> float:
        """When the first on the wire goes to gRPC; inf: there is none."""
        return self._wire[0].arrives_at - self.taken_off_s() if self._wire else inf

    def _filling_at(self) -> float:
        """When the first of the queue goes onto the wire; inf: there is none, or no window for it."""
        return self._queue[0].at - AHEAD_S if self._queue and self._has_window() else inf

    def _count(self, entry: _Entry) -> None:
        """gRPC has taken it: sent, or sent again. Its receipt may be here before gRPC says so."""
        if entry.is_counted:
            return
        account, parcel = self._account, entry.parcel
        account.protobuf_bytes += parcel.protobuf_bytes
        if entry.is_sent:
            account.resent += 1
            account.resent_bytes += parcel.sizes.total
        else:
            self._leave_queue(parcel)
            account.send(parcel.sizes)
        entry.is_sent = entry.is_counted = True

    def _leave_queue(self, parcel: WireMessage) -> None:
        self._account.queued -= 1
        self._account.queued_bytes -= parcel.sizes.total

    def _fill_wire(self) -> None:
        """From the queue onto the wire what is sent about now, as far as the window allows."""
        now, held_s = time.monotonic(), self._weather.held_for(self._peer.index)
        while self._queue and self._queue[0].at - AHEAD_S <= now and self._has_window():
            entry = self._queue.popleft()
            parcel = entry.parcel
            self._queued_bytes -= len(parcel.data)
            leaves = now + held_s if held_s else entry.at
            spec, u = self._weather.link(self._peer.index), self._weather.jitter(self._peer.index, parcel.iteration)
            self._state = send(spec, self._state, leaves, 8 * len(parcel.data), u)
            entry.left_at, entry.arrives_at = now, self._state.last_arrival
            entry.acknowledged_before = self._acknowledged_bytes
            self._wire.append(entry)

    def _look_for_room(self) -> None:
        """What is under way counts, because it waits again if the stream breaks."""
        if len(self._queue) + len(self._wire) + len(self._flights) < QUEUE_MESSAGES:
            self._room.set()
        else:
            self._room.clear()

    def _has_window(self) -> bool:
        under_way = [*self._flights, *self._wire]
        if len(under_way) < 2:
            return True
        rate = min(max(self._rates, default=0.0), self._weather.link(self._peer.index).rate_bps / 8)
        window = 2.0 * rate * self._shortest_s if self._rates else 0.0
        return sum(len(entry.parcel.data) for entry in (*under_way, self._queue[0])) <= window

    async def _read(self, call: "grpc.aio.StreamStreamCall[bytes, pb.Receipt]") -> None:
        self._acknowledged = 0
        self._acknowledged_bytes = 0
        async for receipt in call:
            self._account.receipts += 1
            self._is_broken, self._progress_at = False, time.monotonic()
            self._account.sent_late = max(self._account.sent_late, receipt.late)
            for refused in receipt.refused:
                self._account.refuse(refusal_name(refused.refusal))
            self._settle(receipt.seen)
            self._look_for_room()
            self._wake.set()

    def _settle(self, seen: int) -> None:
        """Parcels up to this number are acknowledged; the newest of them tells the round trip and the rate."""
        now, newest = time.monotonic(), None
        while self._acknowledged < seen and self._flights:
            newest = self._flights.popleft()
            self._count(newest)
            self._acknowledged += 1
            self._acknowledged_bytes += len(newest.parcel.data)
            self._account.acknowledged += 1
        if newest is not None:
            trip = max(now - max(newest.left_at, newest.at), 1e-6)
            self._account.return_after(trip)
            self._shortest_s = min(self._shortest_s, trip)
            self._rates.append((self._acknowledged_bytes - newest.acknowledged_before) / trip)
            if self._acknowledged > 1:  # the first of a stream waits until it is connected
                self._ways.append(newest.overdue_s + (now - newest.handed_at) / 2)
                self._way_s = median_low(self._ways)

    def _requeue(self) -> None:
        """What was under way when the stream broke waits again, in front; a copy that did arrive will be refused."""
        self._is_broken = True
        under_way = [*self._flights, *self._wire]
        for entry in under_way:
            entry.is_counted, entry.at = False, time.monotonic()
        self._flights.clear()
        self._wire.clear()
        self._state = LinkState()
        self._queue.extendleft(reversed(under_way))
        self._queued_bytes += sum(len(entry.parcel.data) for entry in under_way)
