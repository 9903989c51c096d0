"""The node as a process: its server, its stream to the orchestrator, and the session of the run under way."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from contract.assignment import assigned, missing_data, peer
from contract.counters import NodeCounters
from contract.data_delivery import DeliveryRefused, ShardAssembly
from contract.fingerprint import fingerprint
from contract.logs import log_event
from contract.plugins import module_names
from contract.ports.health_server import HealthServer
from contract.ports.metric_families import Build
from contract.ports.metrics_server import MetricsServer
from contract.ports.refused_requests import RefusedRequests
from contract.ports.tls_failures import TlsFailures
from contract.problem_inputs import has_torch
from contract.rpc import control_pb2 as pb
from contract.rpc import refusal_pb2
from contract.run_name import run_name
from contract.tasks import cancelled
from contract.unexpected_errors import in_one_line, reason_of
from contract.versions import code_version
from node.addresses import AUTO, choose, control_address, own_addresses
from node.commands import CommandRefused, check_neighbours, check_probe, on_one_line, read_faults
from node.control import ControlStream
from node.metrics import NodeCollector
from node.orchestrator_channel import Options as ChannelOptions
from node.orchestrator_channel import OrchestratorChannel
from node.server import ExchangeServer
from node.session import Session
from node.shaping import Kernel, probe
from node.supervisor import SOCKET_VARIABLE, SupervisorOrder
from pame import algorithms, problems
from pame.data_set import Samples
from pame.errors import MessageRefused, PameError
from pame.problems import ImageClassificationSpec

_LOG = logging.getLogger(__name__)
_DRAIN_S = 2.0
_PARTING_S = 3.0  # a neighbour drains its links, then counts them
_LOOK_S = 1.0
_TOLD = 20
_PROBES = 1000


@dataclass(frozen=True)
class Options:
    orchestrator: str
    token: str
    member: str
    host: str = "127.0.0.1"
    """Where to listen, and what neighbours are told; `auto`: the address on the data network."""
    port: int = 0
    metrics_port: int = 0
    health_port: int | None = None
    """On loopback, without TLS."""
    security: str | None = None
    """The folder with the orchestrator's authority and token; None: no TLS."""
    patience_s: float = 30.0
    lifeline: int | None = None
    """A pipe whose other end the parent holds: when it closes, whatever the reason, the node leaves."""
    shape: bool = False
    """Whether the kernel may be told to shape links: the network namespace is this node's own."""
    namespace: str | None = None
    """The network namespace (a path) that the fork server enters before it makes this node; None: its own."""


def capabilities() -> list[str]:
    """The algorithms, problems and users' modules that it can run, and the orders that a supervisor above it takes."""
    orders = list(SupervisorOrder) if Path(os.environ.get(SOCKET_VARIABLE, "")).is_socket() else []
    lacking = set() if has_torch() else {ImageClassificationSpec.kind}
    return [
        *(f"algorithm:{kind}" for kind in algorithms.SPECS),
        *(f"problem:{kind}" for kind in problems.SPECS if kind not in lacking),
        *(f"module:{name}" for name in module_names()),
        *(f"order:{order}" for order in orders),
    ]


class Node:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._host, self._metrics_host = _hosts(options)
        self._handshakes = TlsFailures() if options.security is not None else None
        self._channel = _channel(options)
        self._server = ExchangeServer(self._host, options.port)
        self._health = HealthServer(options.health_port)
        self._session: Session | None = None
        self._delivery: tuple[pb.Assignment, ShardAssembly] | None = None
        """An assignment that waits for its samples."""
        self._probing: set[asyncio.Task[None]] = set()
        self._kernel: Kernel | None = None
        """What it can do to links; not asked yet, or not to be asked."""
        self._metrics_port = 0
        self._refused_requests = RefusedRequests()
        self._refused_requests.say = lambda counts: log_event(_LOG, "http_refused", logging.WARNING, **counts)
        self.refused_commands = 0
        """What the orchestrator said that makes no sense."""
        self._leave = asyncio.Event()
        self._control = ControlStream(
            options.orchestrator, self._connect, self._join, self._handle, self._heartbeat, options.patience_s
        )

    async def run(self) -> None:
        """Join, take part in runs, until dismissed or told to leave."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leave.set)
        await self._health.open()
        requests = self._refused_requests
        handshakes = self._handshakes.refused if self._handshakes else None
        collector = NodeCollector(self._account, Build(code_version()), handshakes, requests.counts)
        metrics = MetricsServer(collector, self._metrics_host, self._options.metrics_port, requests)
        self._metrics_port = metrics.port
        await metrics.open()
        if self._options.lifeline is not None:
            _when_cut(self._options.lifeline, self._leave.set)
        control = asyncio.create_task(self._control.run())
        leaving = asyncio.create_task(self._leave.wait())
        renewing = asyncio.create_task(self._renew())
        try:
            done, _ = await asyncio.wait((control, leaving), return_when=asyncio.FIRST_COMPLETED)
            if control in done:
                control.result()
            await self._finish_sends()
            self._control.leave("the node was told to leave")
            await asyncio.wait((control,), timeout=_DRAIN_S)
        finally:
            await cancelled(control, leaving, renewing)
            if self._session is not None:
                await self._session.close()
            await self._server.close()
            await self._health.close()
            await metrics.close()
            requests.close()

    async def _connect(self, options: ChannelOptions) -> grpc.aio.Channel:
        """A channel to the control plane; only then is it known with which certificate to serve."""
        await self._health.say(serving=False)
        channel = await self._channel.open(options, self._session is not None)
        is_new = not self._server.is_open or self._server.credentials is not self._channel.credentials
        if is_new and self._session is None:
            self._server.credentials = self._channel.credentials
            await self._server.open()
        return channel

    async def _renew(self) -> None:
        """Between runs, at half of its life, a certificate is replaced."""
        while True:
            await asyncio.sleep(_LOOK_S)
            held = self._channel.credentials
            if held is not None and self._session is None and held.is_half_over:
                self._control.renew()

    def _account(self) -> NodeCounters:
        return self._session.account if self._session else self._server.idle

    def _join(self) -> pb.Join:
        options, session = self._options, self._session
        return pb.Join(
            token=self._channel.token(),
            member=options.member,
            address=self._server.address,
            metrics_address=self._metrics_address,
            code_version=code_version(),
            fingerprint=fingerprint(),
            pid=os.getpid(),
            run=session.assigned.run if session else 0,
            incarnation=session.assigned.incarnation if session else 0,
            capabilities=capabilities(),
        )

    @property
    def _metrics_address(self) -> str:
        return f"{self._metrics_host}:{self._metrics_port}"

    def _heartbeat(self) -> pb.Heartbeat:
        return pb.Heartbeat(iteration=self._session.account.iteration if self._session else 0)

    async def _handle(self, message: pb.ToNode) -> None:
        try:
            await self._obey(message)
        except PameError as refused:
            self._refused(str(refused))
        except Exception as error:  # a mistake of ours or of a plugin: one command less, not one node less
            self._refused(in_one_line(error))

    def _refused(self, why: str) -> None:
        self.refused_commands += 1
        if self.refused_commands <= _TOLD:
            last = "; more are counted, not told" if self.refused_commands == _TOLD else ""
            reason = f"{on_one_line(why)}{last}"
            log_event(_LOG, "refused_command", logging.WARNING, number=self.refused_commands, reason=reason)

    async def _obey(self, message: pb.ToNode) -> None:
        match message.WhichOneof("kind"):
            case None:
                raise CommandRefused("bytes that are no command")
            case "assignment":
                await self._assigned(message.assignment)
            case "data_piece":
                await self._piece(message.data_piece)
            case "start" if session := self._session_of(message.start.run):
                await session.start(message.start.held)
            case "probe" if session := self._session_of(message.probe.run):
                check_probe(message.probe)
                if len(self._probing) >= _PROBES:
                    raise CommandRefused(f"{_PROBES} probes are under way")
                self._probing.add(task := asyncio.create_task(session.probe(message.probe)))
                task.add_done_callback(self._probing.discard)
            case "neighbours" if session := self._session_of(message.neighbours.run):
                await self._moved(session, message.neighbours)
            case "faults" if session := self._session_of(message.faults.run):
                session.add_faults(read_faults(message.faults, session.assigned))
            case "hold" if session := self._session_of(message.hold.run):
                session.hold(message.hold.on)
            case "stop" if session := self._session_of(message.stop.run):
                await session.stop(message.stop.iteration, _DRAIN_S, _PARTING_S)
                self._session = None
            case "dismissed":
                log_event(_LOG, "dismissed", reason=on_one_line(message.dismissed.reason))
                self._leave.set()
            case "welcome":
                await self._health.say(serving=True)
                metrics = f"http://{self._metrics_address}/metrics"
                log_event(_LOG, "joined", orchestrator=self._options.orchestrator, metrics=metrics)

    async def _assigned(self, message: pb.Assignment) -> None:
        """If its data has to come first, it begins when that is there."""
        self._delivery = None
        with self._failing(message):
            assembly = await asyncio.to_thread(missing_data, message)
            if assembly is None:
                await self._begin(message)
            else:
                self._delivery = message, assembly
                self._ask(message.run, assembly)

    async def _piece(self, piece: pb.DataPiece) -> None:
        if self._delivery is None or self._delivery[0].run != piece.run:
            raise DeliveryRefused(refusal_pb2.REFUSAL_DATA_NOT_WANTED, "a piece that nobody has asked for")
        message, assembly = self._delivery
        with self._failing(message):
            assembly.add(piece)
            if assembly.is_whole:
                self._delivery = None
                await self._begin(message, assembly.samples())
            else:
                self._ask(message.run, assembly)

    def _ask(self, run: int, assembly: ShardAssembly) -> None:
        """For the next piece of its samples: each is asked for when the one before is there."""
        self._control.send(pb.FromNode(data_wanted=pb.DataWanted(run=run, offset=assembly.bytes)))

    async def _begin(self, message: pb.Assignment, samples: Samples | None = None) -> None:
        made = await asyncio.to_thread(assigned, message, samples)  # before anything ends: nonsense does not stop a run
        if self._session is not None:
            await self._session.close()
            self._session = None
        self._server.credentials = self._channel.credentials
        if self._kernel is None and self._options.shape:
            self._kernel = await asyncio.to_thread(probe)
        self._session = Session(made, self._server, self._control.send, self._control.room, self._kernel)
        await self._session.prepare()
        log_event(_LOG, "assigned", run=run_name(message.run), node=message.index, nodes=message.nodes)
        self._control.send(pb.FromNode(ready=self._session.ready()))

    @contextmanager
    def _failing(self, message: pb.Assignment) -> Iterator[None]:
        """Whatever goes wrong is told: a run must not wait for a node that will never be ready."""
        try:
            yield
        except Exception as error:
            self._delivery = None
            reason = reason_of(error, message.index)
            failure = pb.Failure(run=message.run, reason=reason, unheard=isinstance(error, MessageRefused))
            self._control.send(pb.FromNode(failure=failure))

    async def _moved(self, session: Session, message: pb.Neighbours) -> None:
        """Who came back starts only when its neighbours know where it is."""
        check_neighbours(message, session.assigned)
        await session.moved([peer(found) for found in message.neighbours])
        indices = [found.index for found in message.neighbours]
        self._control.send(pb.FromNode(moved=pb.Moved(run=message.run, neighbours=indices)))

    def _session_of(self, run: int) -> Session | None:
        session = self._session
        return session if session is not None and session.assigned.run == run else None

    async def _finish_sends(self) -> None:
        if self._session is not None:
            await self._session.stop(self._session.account.iteration, _DRAIN_S, parting_s=0.0)
            self._session = None


def _hosts(options: Options) -> tuple[str, str]:
    """For neighbours, and for Prometheus."""
    if options.host != AUTO:
        return options.host, options.host
    control = control_address(options.orchestrator)
    return choose(own_addresses(), control), control


def _channel(options: Options) -> OrchestratorChannel:
    if options.security is None:
        return OrchestratorChannel(options.orchestrator, options.token)
    from node.tls_enrolment import TlsChannel  # and with it `cryptography`, which a node without TLS does not need

    return TlsChannel(options.orchestrator, options.member, Path(options.security))


def _when_cut(lifeline: int, action: Callable[[], None]) -> None:
    """Nothing is ever written to a lifeline: readable means that its other end is gone."""
    loop = asyncio.get_running_loop()

    def cut() -> None:
        loop.remove_reader(lifeline)
        action()

    loop.add_reader(lifeline, cut)
