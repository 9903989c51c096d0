"""What every stream of a run shows: that its sender holds the secret of the run. The secret itself never travels there.

    proof = the first 16 bytes of HMAC-SHA256(secret, "address incarnation" of the receiver, as in the assignment)

So nobody outside the run can push, even in the clear. And a proof is good for one process only: whoever takes the port
of a node that died, and is shown proofs there, gains nothing, even if the node comes back to that port.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc

from contract.refusals import refusal_name
from contract.rpc import exchange_pb2 as pb
from contract.rpc import refusal_pb2

KEY = "pame-proof-bin"
_PROOF_BYTES = 16
_REASON = refusal_name(refusal_pb2.REFUSAL_WRONG_SECRET)

Metadata = tuple[tuple[str, bytes], ...]


def proof(secret: bytes, address: str, incarnation: int = 0) -> bytes:
    """For streams to this incarnation of a node, at this address."""
    return hmac.digest(secret, f"{address} {incarnation}".encode(), "sha256")[:_PROOF_BYTES]


def shown(secret: bytes, address: str, incarnation: int = 0) -> Metadata:
    """What a stream to it begins with."""
    return ((KEY, proof(secret, address, incarnation)),)


@dataclass(frozen=True, slots=True)
class Admission:
    """Whose streams a node takes in during a run."""

    proof: bytes = field(repr=False)
    refuse: Callable[[str], None] = field(repr=False)
    """Counts the others, by reason."""

    async def check(self, context: "grpc.aio.ServicerContext[bytes, pb.Receipt]") -> None:
        """Before anything of a stream is read: without the right proof it ends here."""
        found = [value for key, value in context.invocation_metadata() or () if key == KEY]
        if len(found) == 1 and isinstance(found[0], bytes) and hmac.compare_digest(found[0], self.proof):
            return
        self.refuse(_REASON)
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "this stream does not show the secret of the run here")
