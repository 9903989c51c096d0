"""The orchestrator's server: the control plane, health checks, metrics; and one run at a time."""

import asyncio
import secrets
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from node.process import code_version
from orchestrator.experiment import Experiment
from orchestrator.metrics import Build, OrchestratorCollector, OrchestratorFigures, serve
from orchestrator.network.members import Members
from orchestrator.network.run import NetworkRun
from orchestrator.network.service import ControlService
from orchestrator.network.state import NetworkObserver
from orchestrator.runs import Ending, RunFolder
from pame.rpc import control_pb2 as pb
from pame.rpc.control_pb2_grpc import add_ControlServicer_to_server

_MESSAGE_BYTES = 4 * 2**20
"""The largest message a node may send here: snapshots come in pieces, reports in batches."""


class Control:
    """The control plane, from open to close."""

    def __init__(self, host: str, port: int = 0, metrics_port: int = 0, token: str = "") -> None:
        self.members = Members()
        self.run: NetworkRun | None = None
        self.token = token or secrets.token_urlsafe(16)
        self.port = port
        self._host = host
        options = [("grpc.max_receive_message_length", _MESSAGE_BYTES), ("grpc.max_send_message_length", -1)]
        self._server = grpc.aio.server(options=options)
        self._metrics = serve(OrchestratorCollector(self._figures, Build(code_version())), host, metrics_port)

    @property
    def address(self) -> str:
        """Where nodes join."""
        return f"{self._host}:{self.port}"

    @property
    def metrics_address(self) -> str:
        """Where Prometheus finds the orchestrator."""
        return f"{self._host}:{self._metrics.port}"

    async def open(self) -> None:
        """Begin to listen."""
        service = ControlService(self.token, self.members, lambda: self.run)
        add_ControlServicer_to_server(service, self._server)  # type: ignore[no-untyped-call]
        checks = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(checks, self._server)
        self.port = self._server.add_insecure_port(f"{self._host}:{self.port}")
        await self._server.start()
        await checks.set("", health_pb2.HealthCheckResponse.SERVING)

    async def conduct(self, experiment: Experiment, base: Path, folder: RunFolder, watcher: NetworkObserver) -> Ending:
        """One run, from gathering to its end."""
        self.run = await asyncio.to_thread(NetworkRun, experiment, base, folder, self.members, watcher)
        return await self.run.go()

    async def close(self, reason: str) -> None:
        """Dismiss everybody and stop listening."""
        for member in self.members.alive():
            member.tell(pb.ToNode(dismissed=pb.Dismissed(reason=reason)))
        await asyncio.sleep(0)
        await self._server.stop(1.0)
        self._metrics.stop()

    def _figures(self) -> OrchestratorFigures:
        if self.run is None or self.run.phase == "ending":
            return OrchestratorFigures(
                alive_members=len(self.members.alive()), refused_joins=dict(self.members.refused)
            )
        return self.run.figures()
