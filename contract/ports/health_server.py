"""Health for whoever is on the same machine: gRPC's standard service on loopback, where no certificate is asked for."""

from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from contract.ports.port_limits import port_limits
from pame.errors import PameError

_HOST = "127.0.0.1"
_SHARE = 1 / 32


class HealthChecks(health.aio.HealthServicer):
    """`Check` answers; a stranger's `Watch` would never end, so its connection would keep its place at the port."""

    async def Watch(self, request: Any, context: "grpc.aio.ServicerContext[Any, Any]") -> None:  # noqa: N802  gRPC's name
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "use Check")


async def start_healthy(server: grpc.aio.Server, *services: str) -> None:
    """Start a server that answers health checks: it serves these, and it serves ("")."""
    checks = HealthChecks()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    await server.start()
    for name in ("", *services):
        await checks.set(name, health_pb2.HealthCheckResponse.SERVING)


class NoHealthPort(PameError):
    """The port is taken."""


class HealthServer:
    """Says whether this process serves; nothing without a port."""

    def __init__(self, port: int | None) -> None:
        """`port`: 0 takes any free one."""
        self.port = port
        self._server: grpc.aio.Server | None = None
        self._checks = HealthChecks()

    async def open(self) -> None:
        """Begin to answer: not serving yet."""
        if self.port is None:
            return
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0), *port_limits(_SHARE)])
        health_pb2_grpc.add_HealthServicer_to_server(self._checks, self._server)
        try:
            self.port = self._server.add_insecure_port(f"{_HOST}:{self.port}")
        except RuntimeError:
            raise NoHealthPort(f"cannot answer health checks on {_HOST}:{self.port}: give another port") from None
        await self.say(serving=False)
        await self._server.start()

    async def say(self, serving: bool) -> None:
        status = health_pb2.HealthCheckResponse
        await self._checks.set("", status.SERVING if serving else status.NOT_SERVING)

    async def close(self) -> None:
        if self._server is not None:
            await self._server.stop(None)
