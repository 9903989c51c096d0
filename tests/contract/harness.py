"""Streams of the protocol, typed: bytes go out as they are, messages of one kind come back. Plugins for one test."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

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


@contextmanager
def forgetting_plugins(specs: dict[str, Any]) -> Iterator[None]:
    """What plugins add in this block is forgotten: their kinds of this registry, and their modules."""
    kinds, modules = set(specs), set(sys.modules)
    yield
    for name in set(sys.modules) - modules:
        if name.startswith("pame_plugin_"):
            del sys.modules[name]
    for kind in set(specs) - kinds:
        del specs[kind]


async def read(call: "StreamStreamCall[bytes, Answer]", kind: type[Answer]) -> Answer:
    """The next message; there must be one."""
    answer = await call.read()
    assert isinstance(answer, kind)
    return answer
