"""Streams of the protocol, typed: bytes go out as they are, messages of one kind come back."""

from typing import TYPE_CHECKING, TypeVar

import grpc
from google.protobuf.message import Message

if TYPE_CHECKING:
    from grpc.aio import StreamStreamCall

Answer = TypeVar("Answer", bound=Message)
Metadata = tuple[tuple[str, bytes | str], ...]


def stream(
    channel: grpc.aio.Channel, method: str, kind: type[Answer], metadata: Metadata = ()
) -> "StreamStreamCall[bytes, Answer]":
    call: StreamStreamCall[bytes, Answer] = channel.stream_stream(method, None, kind.FromString)(metadata=metadata)
    return call


async def read(call: "StreamStreamCall[bytes, Answer]", kind: type[Answer]) -> Answer:
    """The next message; there must be one."""
    answer = await call.read()
    assert isinstance(answer, kind)
    return answer
