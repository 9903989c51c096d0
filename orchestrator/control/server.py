"""The orchestrator's servers: control plane, clients, health checks, metrics; and one run at a time.

    without TLS    one port for nodes and clients
    with TLS       the join port (only the server has a certificate): enrolment, clients
                   the control port (both sides have one): nodes

Python gRPC asks for client certificates on all of a port or not at all: hence two.
"""

import asyncio
import secrets
from dataclasses import dataclass

import grpc

from contract.credentials import mutual_server
from contract.ports.health_server import start_healthy
from contract.ports.metric_families import Build
from contract.ports.metrics_server import MetricsServer
from contract.ports.port_limits import KEEPALIVE_MS, port_limits
from contract.ports.refused_requests import RefusedRequests
from contract.ports.tls_failures import TlsFailures
from contract.rpc import control_pb2 as pb
from contract.rpc.enrolment_pb2_grpc import add_EnrolmentServicer_to_server
from contract.rpc.experiments_pb2_grpc import add_ExperimentsServicer_to_server
from contract.versions import code_version
from orchestrator.control.members import Members
from orchestrator.control.metrics import OrchestratorCollector, OrchestratorFigures
from orchestrator.control.run_figures import figures_of
from orchestrator.control.run_phases import live
from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.security import Authority, EnrolmentService
from orchestrator.control.service import ControlService, control_handler
from orchestrator.errors import CannotListen
from orchestrator.results import Ending

_MESSAGE_BYTES = 4 * 2**20
"""The largest message a node may send here: snapshots come in pieces, reports in batches."""
_CONTROL_SHARE, _JOIN_SHARE = 1 / 2, 1 / 8
"""Of the descriptors."""
_STREAMS = 16
"""On one connection: a node needs one, a client a few."""
_OTHER = "is another orchestrator there? Choose another port or address"
_CONTROL, _CLIENTS, _ENROLMENT = "pame.v1.Control", "pame.v1.Experiments", "pame.v1.Enrolment"


@dataclass(frozen=True)
class Tls:
    """What makes a network one that nobody else can join."""

    authority: Authority
    join_port: int = 0
    handshakes: TlsFailures | None = None
    """Who counts the refused ones."""


class ControlPlane:
    def __init__(
        self, host: str, port: int = 0, metrics_port: int = 0, token: str = "", tls: Tls | None = None
    ) -> None:
        self.members = Members()
        self.run: NetworkRunState | None = None
        self.token = token or secrets.token_hex(16)
        self.port = port
        self.join_port = tls.join_port if tls else port
        self._tls = tls
        self._host = host
        options = [
            ("grpc.max_receive_message_length", _MESSAGE_BYTES),
            ("grpc.max_send_message_length", -1),
            ("grpc.http2.min_recv_ping_interval_without_data_ms", KEEPALIVE_MS // 2),
            ("grpc.max_concurrent_streams", _STREAMS),
            ("grpc.so_reuseport", 0),  # a second orchestrator on this port is a mistake, not a helper
        ]
        self._server = grpc.aio.server(options=[*options, *port_limits(_CONTROL_SHARE)])
        self._join_server = self._server
        if tls is not None:
            self._join_server = grpc.aio.server(options=[*options, *port_limits(_JOIN_SHARE)])
        self.refused_requests = RefusedRequests()
        """Of all its HTTP ports."""
        counts = self.refused_requests.counts
        handshakes = tls.handshakes.refused if tls and tls.handshakes else None
        collector = OrchestratorCollector(self._figures, Build(code_version()), handshakes, counts)
        try:
            self._metrics = MetricsServer(collector, host, metrics_port, self.refused_requests)
        except OSError as error:
            raise CannotListen(f"cannot serve metrics on {host}:{metrics_port}: {error.strerror}; {_OTHER}") from None

    @property
    def address(self) -> str:
        """Where nodes join, and clients ask."""
        return f"{self._host}:{self.join_port}"

    @property
    def metrics_address(self) -> str:
        return f"{self._host}:{self._metrics.port}"

    @property
    def is_secured(self) -> bool:
        return self._tls is not None

    @property
    def authority_certificate(self) -> bytes:
        """For those who want to join (PEM)."""
        return self._tls.authority.certificate if self._tls else b""

    async def open(self, clients: object | None = None) -> None:
        """Begin to listen to nodes, and to clients if there is an `ExperimentsService` for them."""
        tls = self._tls
        service = ControlService(
            self.token, self.members, lambda: self.run, tls.authority.name_of if tls is not None else None
        )
        self._server.add_generic_rpc_handlers((control_handler(service),))
        if clients is not None:
            add_ExperimentsServicer_to_server(clients, self._join_server)  # type: ignore[no-untyped-call]
        names = {self._server: [_CONTROL]}
        names.setdefault(self._join_server, []).extend([_CLIENTS] if clients else [])
        if tls is None:
            self.port = self.join_port = await self._listen(self._server, self.port, None)
        else:
            enrolment = EnrolmentService(self.token, tls.authority, lambda: self.port, self.members.refuse)
            add_EnrolmentServicer_to_server(enrolment, self._join_server)  # type: ignore[no-untyped-call]
            names[self._join_server].append(_ENROLMENT)
            shown = tls.authority.server
            self.port = await self._listen(self._server, self.port, mutual_server(shown))
            one_sided = grpc.ssl_server_credentials([(shown.key, shown.certificate)])
            self.join_port = await self._listen(self._join_server, self.join_port, one_sided)
        for server, services in names.items():
            await start_healthy(server, *services)
        await self._metrics.open()

    async def go(self, run: NetworkRunState) -> Ending:
        self.run = run
        return await live(run)

    async def close(self, reason: str, dismiss: bool = True) -> None:
        """Stop listening; dismiss everybody, or leave them to wait for the next orchestrator."""
        if dismiss:
            for member in self.members.alive():
                member.tell(pb.ToNode(dismissed=pb.Dismissed(reason=reason)))
        await asyncio.sleep(0)
        await asyncio.gather(*(server.stop(1.0) for server in {self._server, self._join_server}))
        await self._metrics.close()
        self.refused_requests.close()

    async def _listen(self, server: grpc.aio.Server, port: int, credentials: grpc.ServerCredentials | None) -> int:
        address = f"{self._host}:{port}"
        try:
            if credentials is None:
                return server.add_insecure_port(address)
            return server.add_secure_port(address, credentials)
        except RuntimeError:
            await self._metrics.close()
            raise CannotListen(f"cannot listen on {address}; {_OTHER}") from None

    def _figures(self) -> OrchestratorFigures:
        if self.run is None or self.run.is_over:
            return OrchestratorFigures(
                alive_members=len(self.members.alive()), refused_joins=dict(self.members.refused)
            )
        return figures_of(self.run)
