"""The orchestrator's server: the control plane, health checks, metrics; and one run at a time."""

import asyncio
import secrets

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from node.control import KEEPALIVE_MS
from node.process import code_version
from orchestrator.errors import CannotListen
from orchestrator.metrics import Build, OrchestratorCollector, OrchestratorFigures, serve
from orchestrator.network.look import figures_of
from orchestrator.network.members import Members
from orchestrator.network.run import NetworkRun
from orchestrator.network.service import ControlService
from orchestrator.runs import Ending
from pame.rpc import control_pb2 as pb
from pame.rpc.control_pb2_grpc import add_ControlServicer_to_server
from pame.rpc.experiments_pb2_grpc import add_ExperimentsServicer_to_server

_MESSAGE_BYTES = 4 * 2**20
"""The largest message a node may send here: snapshots come in pieces, reports in batches."""
_OTHER = "is another orchestrator there? Choose another port or address"


class Control:
    """The control plane, from open to close."""

    def __init__(self, host: str, port: int = 0, metrics_port: int = 0, token: str = "") -> None:
        self.members = Members()
        self.run: NetworkRun | None = None
        self.token = token or secrets.token_hex(16)
        self.port = port
        self._host = host
        options = [
            ("grpc.max_receive_message_length", _MESSAGE_BYTES),
            ("grpc.max_send_message_length", -1),
            ("grpc.http2.min_recv_ping_interval_without_data_ms", KEEPALIVE_MS // 2),
            ("grpc.so_reuseport", 0),  # a second orchestrator on this port is a mistake, not a helper
        ]
        self._server = grpc.aio.server(options=options)
        try:
            self._metrics = serve(OrchestratorCollector(self._figures, Build(code_version())), host, metrics_port)
        except OSError as error:
            raise CannotListen(f"cannot serve metrics on {host}:{metrics_port}: {error.strerror}; {_OTHER}") from None

    @property
    def address(self) -> str:
        """Where nodes join."""
        return f"{self._host}:{self.port}"

    @property
    def metrics_address(self) -> str:
        """Where Prometheus finds the orchestrator."""
        return f"{self._host}:{self._metrics.port}"

    async def open(self, clients: object | None = None) -> None:
        """Begin to listen to nodes, and to clients if there is an `ExperimentsService` for them."""
        service = ControlService(self.token, self.members, lambda: self.run)
        add_ControlServicer_to_server(service, self._server)  # type: ignore[no-untyped-call]
        if clients is not None:
            add_ExperimentsServicer_to_server(clients, self._server)  # type: ignore[no-untyped-call]
        checks = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(checks, self._server)
        try:
            self.port = self._server.add_insecure_port(f"{self._host}:{self.port}")
        except RuntimeError:
            self._metrics.stop()
            raise CannotListen(f"cannot listen on {self._host}:{self.port}; {_OTHER}") from None
        await self._server.start()
        for name in ("", "pame.v1.Control", *(["pame.v1.Experiments"] if clients else [])):
            await checks.set(name, health_pb2.HealthCheckResponse.SERVING)

    async def go(self, run: NetworkRun) -> Ending:
        """Let a run go to its end."""
        self.run = run
        return await run.go()

    async def close(self, reason: str) -> None:
        """Dismiss everybody and stop listening."""
        for member in self.members.alive():
            member.tell(pb.ToNode(dismissed=pb.Dismissed(reason=reason)))
        await asyncio.sleep(0)
        await self._server.stop(1.0)
        self._metrics.stop()

    def _figures(self) -> OrchestratorFigures:
        if self.run is None or self.run.is_over:
            return OrchestratorFigures(
                alive_members=len(self.members.alive()), refused_joins=dict(self.members.refused)
            )
        return figures_of(self.run)
