"""The way in: a channel to the orchestrator's control plane, plain here, over mutual TLS in `node.tls_enrolment`."""

from collections.abc import Sequence
from typing import Any

import grpc

from contract.credentials import Credentials
from contract.refusals import refusal_name
from node.commands import on_one_line
from pame.errors import PameError

Options = Sequence[tuple[str, Any]]


class JoinRefused(PameError):
    """The orchestrator does not want this node."""

    def __init__(self, detail: str, refusal: int) -> None:
        super().__init__(f"the orchestrator refused: {on_one_line(detail)} ({refusal_name(refusal)})")


class NotYet(PameError):
    """The orchestrator has not left its files, or is not there: worth another try."""


class OrchestratorChannel:
    """Opens channels to the control plane; without TLS, for one machine where nobody else listens."""

    def __init__(self, orchestrator: str, token: str = "") -> None:
        self.credentials: Credentials | None = None
        """What to show to neighbours, and what to ask of them; None without TLS."""
        self._orchestrator = orchestrator
        self._token = token

    async def open(self, options: Options, is_busy: bool) -> grpc.aio.Channel:
        """A channel; a busy node keeps the certificate its neighbours know it by."""
        return grpc.aio.insecure_channel(self._orchestrator, options=options)

    def token(self) -> str:
        """To be shown on joining."""
        return self._token
