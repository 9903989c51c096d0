"""The way in with mutual TLS: enrol for a certificate on the join port, then show it on the control port.

The orchestrator leaves two files where only nodes can read them: `authority.pem` (whom to believe) and `token` (to be
let in). They are read anew for every attempt, because an orchestrator that was restarted is another authority.
"""

from pathlib import Path

import grpc

from contract.credentials import AUTHORITY_FILE, ORCHESTRATOR_NAME, TOKEN_FILE, Credentials, expecting, mutual_channel
from contract.keypair import SigningRequest
from contract.rpc import enrolment_pb2 as pb
from node.orchestrator_channel import JoinRefused, NotYet, Options, OrchestratorChannel

ENROL = "/pame.v1.Enrolment/Enrol"
_ANSWER_S = 10.0
_NO_PROXY = ("grpc.enable_http_proxy", 0)


class TlsChannel(OrchestratorChannel):
    def __init__(self, orchestrator: str, member: str, folder: Path) -> None:
        """`orchestrator`: its join port; `folder`: where it left its files."""
        super().__init__(orchestrator)
        self._member = member
        self._folder = folder
        self._control = ""

    async def open(self, options: Options, is_busy: bool) -> grpc.aio.Channel:
        """A channel that shows the certificate; a new one after a change of authority, and at half of its life."""
        held, authority = self.credentials, self._read(AUTHORITY_FILE)
        if held is None or held.authority != authority or (held.is_half_over and not is_busy):
            held = await self._enrol(authority)
        channel = mutual_channel(held)
        return grpc.aio.secure_channel(self._control, channel, options=[*options, *expecting(ORCHESTRATOR_NAME)])

    def token(self) -> str:
        return self._read(TOKEN_FILE).decode("ascii", "replace").strip()

    async def _enrol(self, authority: bytes) -> Credentials:
        request = SigningRequest()
        question = pb.EnrolRequest(token=self.token(), member=self._member, signing_request=request.der)
        server = grpc.ssl_channel_credentials(authority)
        options = [_NO_PROXY, *expecting(ORCHESTRATOR_NAME)]
        async with grpc.aio.secure_channel(self._orchestrator, server, options=options) as channel:
            enrol: grpc.aio.UnaryUnaryMultiCallable[pb.EnrolRequest, pb.Enrolled]
            enrol = channel.unary_unary(ENROL, pb.EnrolRequest.SerializeToString, pb.Enrolled.FromString)
            answer = await enrol(question, timeout=_ANSWER_S)
        if answer.WhichOneof("kind") != "certificate":
            raise JoinRefused(answer.refused.detail, answer.refused.refusal)
        host = self._orchestrator.rpartition(":")[0]
        self._control = f"{host}:{answer.certificate.control_port}"
        self.credentials = request.answered(authority, answer.certificate.pem)
        return self.credentials

    def _read(self, name: str) -> bytes:
        path = self._folder / name
        try:
            return path.read_bytes()
        except OSError as error:
            raise NotYet(f"cannot read {path} ({error.strerror}): the orchestrator leaves it there") from None
