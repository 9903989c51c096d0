"""A node's part in one run: its links, its trainer, and its reports to the orchestrator."""

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from math import inf
from typing import Any

from contract.assignment import Assigned, Peer
from contract.counter_reports import record_message, totals_message
from contract.counters import NodeCounters, OutCounters
from contract.fault_reports import IN_PROCESS, Turn, concerns, fault_message, realised_message
from contract.fingerprint import fingerprint_for
from contract.realised import Realised
from contract.rpc import control_pb2 as pb
from contract.run_name import run_name
from contract.tasks import cancelled, is_set
from contract.unexpected_errors import reason_of
from node.conditions import NodeConditions
from node.fault_schedule import FaultSchedule
from node.link import OutLink
from node.probing import Prober, boot_id
from node.server import ExchangeServer
from node.shaping import Kernel, Shaper, ShapingRefused
from node.socket_counters import count_sockets, own_inodes
from node.stream_proof import Admission, proof
from node.trainer import Trainer
from pame.errors import Diverged, MessageRefused, ParameterError
from pame.exchange import Vector
from pame.fault_effects import CutEffect, DegradeEffect, FaultEvent, Plan
from pame.observe import Record

_REPORT_S = 0.2
_TOTALS_EVERY = 5
_RECORDS_PER_REPORT = 2000
_SHAPING_TRIES = 3
_SHAPING_RETRY_S = 0.5
_CHUNK = 1 << 14
"""Numbers in a piece of a snapshot: 128 KiB."""

Send = Callable[[pb.FromNode], None]
Room = Callable[[], Awaitable[bool]]


class Session:
    """From an assignment to its end."""

    def __init__(
        self, assigned: Assigned, server: ExchangeServer, send: Send, room: Room, kernel: Kernel | None = None
    ) -> None:
        """`kernel`: what it can do to links; None: it is left alone."""
        self.assigned = assigned
        self.account = NodeCounters(run=assigned.run, index=assigned.index)
        self._server = server
        self._send = send
        self._links: dict[int, OutLink] = {}
        addresses = {peer.index: peer.address for peer in assigned.peers}
        self._shaper = Shaper(assigned.setting, assigned.index, addresses, kernel or Kernel())
        self._conditions = NodeConditions(assigned.setting.conditions, assigned.index, self._shaper, assigned.seconds)
        self._faults = FaultSchedule(
            assigned.index,
            assigned.setting.plan,
            self._tell_turn,
            self._mechanism,
            assigned.seconds,
            assigned.first,
            run_name(assigned.run),
            assigned.setting.stop.last_iteration if assigned.setting.exchange.waits else inf,
        )
        self._reshape = asyncio.Event()
        self._peers = {peer.index: peer for peer in assigned.peers}
        self._credentials = server.credentials if assigned.tls else None
        if assigned.tls and self._credentials is None:
            raise ParameterError("not an assignment for this node: it asks for TLS, and there is no certificate here")
        self._prober = Prober(assigned, self._shaper, self._conditions, self._credentials)
        self._probes: set[int] = set()
        """Sockets from before the start: gRPC closes them when it likes."""
        self._records: list[Record] = []
        self._tasks: list[asyncio.Task[None]] = []
        """Training, shaping, following the faults: none before the start."""
        self._reporter: asyncio.Task[None] | None = None
        self.account.out.update({peer.index: OutCounters() for peer in assigned.peers})
        self._trainer = Trainer(
            assigned,
            self._links,
            self._conditions,
            self.account,
            self._records.append,
            self._snapshot,
            room,
            self._faults,
        )

    async def prepare(self) -> None:
        """Take in messages of this run: others may start a moment earlier."""
        await self._trainer.measure()
        await self._shaper.apply(self.assigned.seconds)
        self._prober.open(self._server.host, self._server.port)
        limit, assigned = self._trainer.checks.limit, self.assigned
        own = proof(assigned.secret, self._server.address, assigned.incarnation)
        admission = Admission(own, self.account.refuse)
        await self._server.open(limit, self._trainer.arrive, self.assigned.tls, self._prober.arrive, admission)

    def ready(self) -> pb.Ready:
        """What became of the properties of its links, and why packets cannot be lost on them, if so."""
        links = [realised_message(found) for found in self._shaper.table()]
        return pb.Ready(
            run=self.assigned.run,
            links=links,
            boot=boot_id(),
            lossless=self._shaper.why_lossless(),
            torch_fingerprint=fingerprint_for(self.assigned.setting.problem),
        )

    async def probe(self, order: pb.Probe) -> None:
        """Measure a link, before the start."""
        self._send(pb.FromNode(probed=await self._prober.carry_out(order)))

    async def start(self, is_held: bool = False) -> None:
        """Connect and train; once. `is_held`: not before it is told to go on."""
        if self._tasks:
            raise ParameterError("this run has begun already")
        await self._prober.close()
        self._probes = own_inodes()
        limit, secret = self._trainer.checks.limit, self.assigned.secret
        for index, peer in self._peers.items():
            account = self.account.out[index]
            self._links[index] = OutLink(peer, limit, self._conditions, account, self._credentials, secret=secret)
        following = self._faults.follow(self._conditions.seconds, lambda: self.account.iteration)
        works = (self._trainer.run(self._done), self._keep_shaping(), following)
        self._tasks = [asyncio.create_task(self._or_fail(work)) for work in works]
        if is_held:
            self._trainer.hold(True)
        self._reporter = asyncio.create_task(self._or_fail(self._report_now_and_then()))

    def hold(self, is_held: bool) -> None:
        """Its iterations and the clock of the run stand still, or go on."""
        self._trainer.hold(is_held)
        self._reshape.set()

    def add_faults(self, events: Plan) -> None:
        """By hand, while the run goes on; what cannot be done here is told, and left."""
        try:
            self._shaper.add(events)
        except ShapingRefused as refused:
            now, k = self._conditions.seconds(), self.account.iteration
            for event in events:
                if concerns(event, self.assigned.index):
                    self._tell_turn(Turn(event, True, now, k, failure=str(refused)))
            return
        self._conditions.add(events)
        self._faults.add(events)
        self._reshape.set()

    async def _keep_shaping(self) -> None:
        """What the kernel does to links changes when a fault begins or ends, and when somebody is elsewhere."""
        tries = 0
        while True:
            self._reshape.clear()
            now = self._conditions.seconds()
            try:
                await self._shaper.apply(now)
                tries = 0
            except ShapingRefused as refused:
                tries += 1
                if tries == _SHAPING_TRIES:
                    self._fail(reason_of(refused, self.assigned.index))
                    return
                await asyncio.sleep(_SHAPING_RETRY_S)
                continue
            took = self._conditions.seconds() - now
            self._faults.applied(now, self.account.iteration, took, self._held)
            await is_set(self._reshape, self._shaper.next_change(now) - self._conditions.seconds())

    def _mechanism(self, event: FaultEvent) -> str:
        if event.window.unit == "seconds" and isinstance(event.effect, CutEffect | DegradeEffect):
            return self._shaper.mechanism(event.effect)
        return IN_PROCESS

    def _held(self, event: FaultEvent) -> Sequence[Realised]:
        return self._shaper.held_links(event.effect) if isinstance(event.effect, CutEffect | DegradeEffect) else ()

    def _tell_turn(self, turn: Turn) -> None:
        self._send(pb.FromNode(fault=fault_message(self.assigned.run, turn)))

    async def moved(self, peers: Iterable[Peer]) -> None:
        for peer in peers:
            self._peers[peer.index] = peer
            self._trainer.checks.moved(peer.index, peer.incarnation, peer.name)
            self._trainer.greet(peer.index)
            if peer.index in self._links:
                self._links[peer.index].move(peer)
            self._shaper.move(peer.index, peer.address)
        with suppress(ShapingRefused):  # `_keep_shaping` tries again, and fails the run if it must
            await self._shaper.apply(self._conditions.seconds())
        self._reshape.set()

    async def stop(self, at: int, drain_s: float, parting_s: float) -> None:
        """The end of the run, or of this node's part: the result, the last report, and good-bye to the links.

        `parting_s`: neighbours may so long still be counting on their connections to this node.
        """
        await cancelled(*self._tasks)
        await self._shaper.clear()  # a run ends healed
        await asyncio.gather(*(link.drain(drain_s) for link in self._links.values()))
        await cancelled(self._reporter)
        await self._count_sockets()
        await asyncio.gather(*(link.close() for link in self._links.values()))  # nothing is sent after the last report
        iteration, model = self._trainer.result(at)
        self._send_model(iteration, model, result=True)
        self._report(with_totals=True)
        self._send(pb.FromNode(finished=pb.Finished(run=self.assigned.run)))
        await self._server.quiet(parting_s)
        await self.close()

    async def close(self) -> None:
        await cancelled(*self._tasks, self._reporter)
        await self._prober.close()
        await self._shaper.clear()
        await asyncio.gather(*(link.close() for link in self._links.values()))
        await self._server.open()

    async def _count_sockets(self) -> None:
        receivers = {peer.index: peer.address for peer in self._peers.values()}
        counts = await count_sockets(receivers, self._probes) or {}
        for receiver, account in self.account.out.items():
            account.sockets = counts.get(receiver)

    async def _or_fail(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # whatever it is, a run must not wait for a node that has stopped
            reason, diverged = reason_of(error, self.assigned.index), isinstance(error, Diverged)
            self._fail(reason, diverged, unheard=isinstance(error, MessageRefused))

    def _fail(self, reason: str, diverged: bool = False, unheard: bool = False) -> None:
        """The end of the run, not only of this node's part."""
        self._report(with_totals=True)
        failure = pb.Failure(run=self.assigned.run, reason=reason, diverged=diverged, unheard=unheard)
        self._send(pb.FromNode(failure=failure))

    def _done(self) -> None:
        self._report(with_totals=True)
        self._send(pb.FromNode(done=pb.Done(run=self.assigned.run)))

    def _snapshot(self, k: int, model: Vector) -> None:
        self._report(with_totals=False)  # so that the records before a snapshot are there before it
        start = time.thread_time()
        self._send_model(k, model, result=False)
        self.account.snapshot_cpu_s += time.thread_time() - start
        self.account.snapshot_bytes += 8 * model.size

    def _send_model(self, k: int, model: Vector, result: bool) -> None:
        run = self.assigned.run
        for offset in range(0, model.size, _CHUNK):
            values = model[offset : offset + _CHUNK].astype("<f8").tobytes()
            chunk = pb.SnapshotChunk(run=run, iteration=k, offset=offset, values=values, result=result)
            self._send(pb.FromNode(snapshot=chunk))

    async def _report_now_and_then(self) -> None:
        number = 0
        while True:
            await asyncio.sleep(_REPORT_S)
            number += 1
            self._report(with_totals=number % _TOTALS_EVERY == 0)

    def _report(self, with_totals: bool) -> None:
        records, self._records[:] = self._records[:], []
        for start in range(0, len(records), _RECORDS_PER_REPORT):
            piece = records[start : start + _RECORDS_PER_REPORT]
            report = pb.Report(run=self.assigned.run, records=[record_message(record) for record in piece])
            self._send(pb.FromNode(report=report))
        if with_totals:
            usage = resource.getrusage(resource.RUSAGE_SELF)
            self.account.cpu_s = usage.ru_utime + usage.ru_stime
            self.account.resident_bytes = usage.ru_maxrss * 1024
            self._send(pb.FromNode(report=totals_message(self.account)))
