"""Who a node is: a key that never leaves this process, a certificate that names member and incarnation, and gRPC's view
of both.

    subject alternative names    DNS   3.5f0c...e1.node.pame      incarnation 3 of a member, by the hash of its name
                                 URI   pame:node-7                the member's own name, for people

Nodes dial addresses, not names: a channel is told which name the certificate at the other end must have.
"""

import time
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import grpc

ORCHESTRATOR_NAME = "orchestrator.pame"
AUTHORITY_FILE, TOKEN_FILE = "authority.pem", "token"
"""In the folder that the orchestrator shares with those who may join."""
_NODE_SUFFIX = ".node.pame"


def node_name(member: str, incarnation: int) -> str:
    """The name in a node's certificate."""
    return f"{incarnation}.{sha256(member.encode()).hexdigest()[:40]}{_NODE_SUFFIX}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A key, its certificate, and whom to believe; all PEM."""

    authority: bytes
    certificate: bytes
    key: bytes = field(repr=False)
    renew_at: float = float("inf")
    """Half of the certificate's life is over then; seconds since 1970."""

    @property
    def is_half_over(self) -> bool:
        """Whether it is time to renew the certificate."""
        return time.time() >= self.renew_at


def mutual_server(credentials: Credentials) -> grpc.ServerCredentials:
    """Whoever connects must show a certificate of the same authority."""
    return grpc.ssl_server_credentials(
        [(credentials.key, credentials.certificate)], credentials.authority, require_client_auth=True
    )


def mutual_channel(credentials: Credentials) -> grpc.ChannelCredentials:
    """Shows the certificate, and believes only the same authority."""
    return grpc.ssl_channel_credentials(credentials.authority, credentials.key, credentials.certificate)


def expecting(name: str) -> list[tuple[str, Any]]:
    """Options of a channel: the certificate at the other end must have this name."""
    return [("grpc.ssl_target_name_override", name)]


def peer_name(context: "grpc.aio.ServicerContext[Any, Any]") -> str | None:
    """The node's name in the certificate of whoever called; None without one."""
    names = context.auth_context().get("x509_subject_alternative_name", [])
    return next((name.decode() for name in names if name.endswith(_NODE_SUFFIX.encode())), None)
