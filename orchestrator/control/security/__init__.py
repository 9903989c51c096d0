"""Mutual TLS from the orchestrator's side: it is the certificate authority of its network.

    authority.py    the key that signs, in memory only; certificates that name member and incarnation
    shared_files.py the folder where it leaves its own certificate and the token for those who may join
    enrolment.py    the one call of the join port: token and signing request against certificate

May import: `contract` (credentials, names of the files), `orchestrator.errors`, `pame`.
"""

from orchestrator.control.security.authority import Authority, BadSigningRequest
from orchestrator.control.security.enrolment import EnrolmentService
from orchestrator.control.security.shared_files import SharedFiles, keep_token, leave_authority, read_vault

__all__ = [
    "Authority",
    "BadSigningRequest",
    "EnrolmentService",
    "SharedFiles",
    "keep_token",
    "leave_authority",
    "read_vault",
]
