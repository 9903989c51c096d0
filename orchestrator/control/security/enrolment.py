"""The Enrolment service, alone on the port where the caller has no certificate yet."""

import hmac
from collections.abc import Callable

from contract.refusals import refusal_name
from contract.rpc import enrolment_pb2 as pb
from contract.rpc import refusal_pb2
from orchestrator.control.security.authority import Authority, BadSigningRequest

NAME_CHARACTERS = 100


class EnrolmentService:
    """Token and signing request against certificate."""

    def __init__(
        self, token: str, authority: Authority, control_port: Callable[[], int], refuse: Callable[[str, str], None]
    ) -> None:
        """`refuse`: is told of member and reason."""
        self._token = token
        self._authority = authority
        self._control_port = control_port
        self._tell_refused = refuse

    async def Enrol(self, request: pb.EnrolRequest, _: object) -> pb.Enrolled:  # noqa: N802  gRPC's name
        if not hmac.compare_digest(request.token.encode(), self._token.encode()):
            detail = "wrong token: give the node the orchestrator's own"
            return self._refuse(request, refusal_pb2.REFUSAL_WRONG_TOKEN, detail)
        if not 0 < len(request.member) <= NAME_CHARACTERS:
            detail = f"a member has a name of at most {NAME_CHARACTERS} characters"
            return self._refuse(request, refusal_pb2.REFUSAL_BAD_JOIN, detail)
        try:
            pem = self._authority.sign(request.member, request.signing_request)
        except BadSigningRequest as error:
            return self._refuse(request, refusal_pb2.REFUSAL_BAD_SIGNING_REQUEST, str(error))
        return pb.Enrolled(certificate=pb.Certificate(pem=pem, control_port=self._control_port()))

    def _refuse(self, request: pb.EnrolRequest, refusal: "refusal_pb2.Refusal", detail: str) -> pb.Enrolled:
        self._tell_refused(request.member[:NAME_CHARACTERS], refusal_name(refusal))
        return pb.Enrolled(refused=pb.NotEnrolled(refusal=refusal, detail=detail))
