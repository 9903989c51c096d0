"""What a gRPC port allows its clients, so that connections that say nothing do not use up this process' descriptors.

grpc.server_handshake_timeout_ms        until TLS and the first HTTP/2 frame are done, a connection has this long
grpc.max_connection_idle_ms             without any call, this long; a stream of a neighbour is a call
grpc.max_allowed_incoming_connections   those beyond it are closed at once
"""

import resource

KEEPALIVE_MS = 10_000
"""Pings by which a node notices an orchestrator that is frozen, or gone without closing the connection."""
_HANDSHAKE_MS = 5_000
"""Also over a slow emulated link, on a machine with more nodes than cores."""
_IDLE_MS = 30_000
_MOST = 2048
"""A silent connection costs about 11 KB."""


def port_limits(share: float) -> list[tuple[str, int]]:
    """Options of a server that may use this share of the process' descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST if descriptors == resource.RLIM_INFINITY else max(1, min(_MOST, int(share * descriptors)))
    return [
        ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS),
        ("grpc.max_connection_idle_ms", _IDLE_MS),
        ("grpc.max_allowed_incoming_connections", most),
    ]
