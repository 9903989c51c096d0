"""The Control service: one stream per node."""

import asyncio
import hmac
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence

import grpc

from contract.credentials import peer_name
from contract.fingerprint import fingerprint
from contract.refusals import refusal_name
from contract.rpc import control_pb2 as pb
from contract.rpc import refusal_pb2
from contract.versions import code_version
from orchestrator.control.field_ranges import on_one_line
from orchestrator.control.members import Member, Members
from orchestrator.control.node_messages import decoded
from orchestrator.control.refused_reports import MOST_JOINS, MOST_REFUSALS
from orchestrator.control.run_membership import member_joined, member_left
from orchestrator.control.run_messages import message_heard
from orchestrator.control.run_state import NetworkRunState

_JOIN_S = 10.0
_NAME_CHARACTERS = 100
_ADDRESS = re.compile(r"[!-~]{1,255}:([1-9][0-9]{0,4})")
_LAST_PORT = 65535
_CAPABILITIES = 1000
_SHOWN = 60


class ControlService:
    def __init__(
        self,
        token: str,
        members: Members,
        listener: Callable[[], NetworkRunState | None],
        name_of: Callable[[str], str] | None = None,
    ) -> None:
        """`name_of`: the name that a member's certificate must have; None without TLS."""
        self._token = token
        self._name_of = name_of
        self._members = members
        self._listener = listener
        self._fingerprint = fingerprint()

    async def Attach(  # noqa: N802  gRPC's name
        self, requests: AsyncIterator[pb.FromNode], context: "grpc.aio.ServicerContext[pb.FromNode, pb.ToNode]"
    ) -> AsyncIterator[pb.ToNode]:
        """A node joins and stays until one side leaves."""
        try:
            async with asyncio.timeout(_JOIN_S):
                first = await anext(aiter(requests))
        except (TimeoutError, StopAsyncIteration):
            return
        name = peer_name(context)
        refused = self._refusal(first, name)
        if refused is not None:
            self._members.refuse(on_one_line(first.join.member, _NAME_CHARACTERS), refusal_name(refused.refusal))
            yield pb.ToNode(refused=refused)
            return
        member = self._admit(first.join, name or "")
        reading = asyncio.create_task(self._read(member, requests))
        telling = asyncio.create_task(member.outbox.get())
        try:
            while True:
                await asyncio.wait((reading, telling), return_when=asyncio.FIRST_COMPLETED)
                if not telling.done():
                    reading.result()  # a mistake in our own listening is not to be overheard
                    if member.refused >= MOST_REFUSALS:
                        yield pb.ToNode(refused=_too_much_nonsense())
                    return
                yield telling.result()
                telling = asyncio.create_task(member.outbox.get())
        finally:
            for task in (reading, telling):
                task.cancel()
            self._members.left(member)
            if (listener := self._listener()) is not None:
                member_left(listener, member)

    def _refusal(self, first: pb.FromNode, name: str | None) -> pb.Refused | None:
        join = first.join
        if first.WhichOneof("kind") != "join" or not 0 < len(join.member) <= _NAME_CHARACTERS:
            detail = f"the first message must be a join with a name of at most {_NAME_CHARACTERS} characters"
            return _refused(refusal_pb2.REFUSAL_BAD_JOIN, detail)
        if not join.member.isprintable() or not _are_words(join.capabilities):
            detail = f"a join has a printable name, and at most {_CAPABILITIES} short capabilities"
            return _refused(refusal_pb2.REFUSAL_BAD_JOIN, detail)
        if not hmac.compare_digest(join.token.encode(), self._token.encode()):
            return _refused(refusal_pb2.REFUSAL_WRONG_TOKEN, "wrong token: give the node the orchestrator's own")
        if self._name_of is not None and name != self._name_of(join.member):
            detail = f"this is not the newest certificate of {join.member}: enrol anew"
            return _refused(refusal_pb2.REFUSAL_WRONG_IDENTITY, detail)
        if join.code_version != code_version():
            theirs = on_one_line(join.code_version, _SHOWN)
            detail = f"the node runs version {theirs}, the orchestrator {code_version()}: use the same"
            return _refused(refusal_pb2.REFUSAL_WRONG_CODE_VERSION, detail)
        if join.fingerprint != self._fingerprint:
            detail = "this machine computes other bits (NumPy, processor): use the same build on all nodes"
            return _refused(refusal_pb2.REFUSAL_WRONG_FINGERPRINT, detail)
        if join.metrics_address and not _is_address(join.metrics_address):
            return _refused(refusal_pb2.REFUSAL_BAD_ADDRESS, "the address of its metrics is not HOST:PORT")
        if not _is_address(join.address):
            return _refused(refusal_pb2.REFUSAL_BAD_ADDRESS, f"{on_one_line(join.address, _SHOWN)!r} is not HOST:PORT")
        known = self._members.get(join.member)
        if known is not None and known.refused >= MOST_REFUSALS:
            return _too_much_nonsense()
        if known is not None and known.joins >= MOST_JOINS:
            detail = f"{join.member} has joined {MOST_JOINS} times in one run: see why it does not stay"
            return _refused(refusal_pb2.REFUSAL_BAD_JOIN, detail)
        for other in self._members.alive():
            if other.address == join.address and other.name != join.member:
                detail = f"{other.name} is at {join.address} already: give each node a port of its own"
                return _refused(refusal_pb2.REFUSAL_BAD_ADDRESS, detail)
        return None

    def _admit(self, join: pb.Join, certificate_name: str) -> Member:
        member = Member(
            name=join.member,
            address=join.address,
            metrics_address=join.metrics_address,
            code_version=join.code_version,
            pid=join.pid,
            capabilities=frozenset(join.capabilities),
            certificate_name=certificate_name,
        )
        member.tell(pb.ToNode(welcome=pb.Welcome(member=member.name)))
        listener = self._listener()
        member.joins = int(listener is not None)
        self._members.add(member)
        if join.run and (listener is None or listener.number != join.run):  # of an orchestrator that is gone
            member.tell(pb.ToNode(stop=pb.Stop(run=join.run)))
        if listener is not None:
            member_joined(listener, member, join)
        return member

    async def _read(self, member: Member, requests: AsyncIterator[pb.FromNode]) -> None:
        async for message in requests:
            member.heard_at = time.monotonic()
            message_heard(self._listener(), member, message)
            if member.refused >= MOST_REFUSALS:
                return


def control_handler(service: ControlService) -> grpc.GenericRpcHandler:
    """As the generated one, but bytes that are no message do not end the stream: they are refused like any nonsense."""
    attach = grpc.stream_stream_rpc_method_handler(
        service.Attach,
        request_deserializer=decoded,
        response_serializer=pb.ToNode.SerializeToString,
    )
    return grpc.method_handlers_generic_handler("pame.v1.Control", {"Attach": attach})


def _is_address(text: str) -> bool:
    found = _ADDRESS.fullmatch(text)
    return found is not None and int(found[1]) <= _LAST_PORT


def _are_words(capabilities: Sequence[str]) -> bool:
    few = len(capabilities) <= _CAPABILITIES
    return few and all(len(word) <= _NAME_CHARACTERS and word.isprintable() for word in capabilities)


def _too_much_nonsense() -> pb.Refused:
    detail = f"{MOST_REFUSALS} messages of this node in one run were nonsense: look at the run's events.jsonl"
    return _refused(refusal_pb2.REFUSAL_BAD_JOIN, detail)


def _refused(refusal: "refusal_pb2.Refusal", detail: str) -> pb.Refused:
    return pb.Refused(refusal=refusal, detail=detail)
