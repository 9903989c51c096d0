"""Who may open a stream, over real gRPC: whoever shows the secret of the run for this address, and nobody else."""

import asyncio
import hashlib
import hmac
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from contract.assignment import Peer
from contract.rpc import exchange_pb2 as pb
from contract.run_name import run_name
from node.link_stream import PROBE, PUSH
from node.server import ExchangeServer
from node.stream_proof import Admission, proof, shown
from node.wire_message import WireMessage
from pame.codec import Sizes
from tests.contract.harness import Metadata, stream
from tests.harness import until
from tests.node.harness import link_to

SECRET = bytes(range(16))
BOUND_S = 30.0


class Door:
    """A server that takes in whatever is shown the right proof, and remembers it."""

    def __init__(self, server: ExchangeServer) -> None:
        self.server = server
        self.strangers: Counter[str] = Counter()
        self.taken: list[bytes] = []

    def take(self, data: bytes, name: str | None) -> int:
        self.taken.append(data)
        return 0

    async def open(self, method: str, *metadata: tuple[str, bytes | str]) -> grpc.StatusCode:
        """Open a stream that begins so, and wait for its end."""
        async with grpc.aio.insecure_channel(self.server.address) as channel, asyncio.timeout(BOUND_S):
            return await stream(channel, method, pb.Receipt, metadata).code()

    async def push(self, method: str, *metadata: tuple[str, bytes | str]) -> grpc.StatusCode:
        """Push one message over a stream that begins so; how it ends. (gRPC: INTERNAL if it ended before that.)"""
        async with grpc.aio.insecure_channel(self.server.address) as channel, asyncio.timeout(BOUND_S):
            call = stream(channel, method, pb.Receipt, metadata)
            try:
                await call.write(b"a message")
                await call.done_writing()
                _ = [receipt async for receipt in call]
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                pass  # it has been shut before we were done
            return await call.code()


@asynccontextmanager
async def opened(incarnation: int = 0) -> AsyncIterator[Door]:
    server = ExchangeServer("127.0.0.1", 0)
    await server.open()
    door = Door(server)
    admission = Admission(proof(SECRET, server.address, incarnation), lambda reason: door.strangers.update([reason]))
    await server.open(1000, door.take, probed=door.take, admission=admission)
    try:
        yield door
    finally:
        await server.close()


def test_a_proof_is_a_keyed_hash_of_address_and_incarnation() -> None:
    whole = hmac.new(SECRET, b"10.0.0.7:7000 3", hashlib.sha256).digest()
    assert shown(SECRET, "10.0.0.7:7000", 3) == (("pame-proof-bin", whole[:16]),)


@pytest.mark.parametrize("method", [PUSH, PROBE])
async def test_streams_without_the_right_proof_end_before_anything_is_read_and_are_counted(method: str) -> None:
    async with opened() as door:
        right = proof(SECRET, door.server.address)
        wrong = [b"", right[:-1], right + b"\0", SECRET]
        wrong += [proof(bytes(16), door.server.address), proof(SECRET, "127.0.0.1:9")]
        wrong += [proof(SECRET, door.server.address, 1)]  # of a node that came back there
        lies: list[Metadata] = [
            (),
            *((("pame-proof-bin", each),) for each in wrong),
            (("pame-proof-bin", right), ("pame-proof-bin", right)),
            (("pame-proof", right.hex()),),
            (("authorization", "Bearer a token"),),
        ]
        for number, metadata in enumerate(lies, 1):
            assert await door.open(method, *metadata) is grpc.StatusCode.UNAUTHENTICATED, metadata
            assert await door.push(method, *metadata) is not grpc.StatusCode.OK
            assert door.strangers == {"wrong_secret": 2 * number}
        assert door.taken == []
        assert await door.push(method, *shown(SECRET, door.server.address)) is grpc.StatusCode.OK
        assert door.taken == [b"a message"]
        assert door.strangers.total() == 2 * number


async def test_a_link_shows_its_secret_to_every_address_it_dials() -> None:
    """Also after its neighbour has moved."""
    async with opened(incarnation=1) as door:
        async with link_to("127.0.0.1:9", limit=1000, secret=SECRET) as (link, _):
            link.push(WireMessage(0, b"to nobody yet", Sizes()))
            link.move(Peer(3, door.server.address, 1))
            await until(lambda: link.is_idle)
        assert door.taken == [b"to nobody yet"]
        assert not door.strangers


def test_what_is_kept_of_a_proof_is_not_shown() -> None:
    right = proof(SECRET, "127.0.0.1:9")
    words = repr(Admission(right, print))
    assert repr(right) not in words
    assert right.hex() not in words


def test_the_name_of_a_run_is_eight_digits_of_a_hash_and_no_run_has_none() -> None:
    assert run_name(0) == ""
    assert run_name(77) == hashlib.sha256(b"\x4d" + bytes(7)).hexdigest()[:8]
    assert len({run_name(number) for number in range(2**62, 2**62 + 1000)}) == 1000
