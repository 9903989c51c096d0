"""The way in: a channel to the orchestrator's control plane, plain here, over mutual TLS in `node.tls_enrolment`."""

from collections.abc import Sequence
from typing import Any, Protocol

import grpc

from contract.credentials import Credentials
from pame.errors import PameError

Options = Sequence[tuple[str, Any]]


class JoinRefused(PameError):
    """The orchestrator does not want this node."""


class NotYet(PameError):
    """The orchestrator has not left its files, or is not there: worth another try."""


class OrchestratorChannel(Protocol):
    """Opens channels to the control plane."""

    credentials: Credentials | None
    """What to show to neighbours, and what to ask of them; None without TLS."""

    async def open(self, options: Options, is_busy: bool) -> grpc.aio.Channel:
        """A channel; a busy node keeps the certificate its neighbours know it by."""

    def token(self) -> str:
        """To be shown on joining."""


class PlainChannel:
    """Without TLS: for one machine, where nobody else listens."""

    def __init__(self, orchestrator: str, token: str) -> None:
        self.credentials: Credentials | None = None
        self._orchestrator = orchestrator
        self._token = token

    async def open(self, options: Options, is_busy: bool) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(self._orchestrator, options=options)

    def token(self) -> str:
        return self._token
