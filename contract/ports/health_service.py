"""gRPC's standard health service without its endless call: `Check` answers, `Watch` does not.

A stranger's `Watch` would never end, so its connection would never be idle and would keep its place at the port.
"""

from typing import Any

import grpc
from grpc_health.v1 import health


class HealthChecks(health.aio.HealthServicer):
    """To be asked again and again."""

    async def Watch(self, request: Any, context: "grpc.aio.ServicerContext[Any, Any]") -> None:  # noqa: N802  gRPC's name
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "use Check")
