"""The Experiments service, for clients: submit an experiment, watch a run, cancel it, see who is there."""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc

from contract.rpc import experiments_pb2 as pb
from contract.rpc import refusal_pb2
from orchestrator.control.manual_faults import answer
from orchestrator.control.members import Member
from orchestrator.control.submission_text import read_submission
from orchestrator.control.submissions import Busy, Submissions
from orchestrator.experiment.faults.plan_words import planned_words
from pame.errors import PameError

Context = grpc.aio.ServicerContext[Any, Any]

_WRONG_TOKEN = "wrong token: give the orchestrator's own, with --token or PAME_TOKEN"


class ExperimentsService:
    """Every call carries the token."""

    def __init__(self, token: str, submissions: Submissions) -> None:
        self._token = token
        self._submissions = submissions

    async def Submit(self, request: pb.Submission, context: Context) -> pb.Submitted:  # noqa: N802  gRPC's name
        if not self._is_ours(request.token):
            return _denied(refusal_pb2.REFUSAL_WRONG_TOKEN, _WRONG_TOKEN)
        try:
            experiment = (await asyncio.to_thread(read_submission, request.experiment)).experiment
            broadcast = await self._submissions.submit(experiment, dict(request.files))
        except Busy as busy:
            return _denied(refusal_pb2.REFUSAL_BUSY, str(busy))
        except PameError as error:
            return _denied(refusal_pb2.REFUSAL_BAD_EXPERIMENT, str(error))
        return pb.Submitted(accepted=pb.Accepted(run=broadcast.run, folder=broadcast.folder))

    async def Watch(self, request: pb.WatchRequest, context: Context) -> AsyncIterator[pb.Event]:  # noqa: N802
        """What happened so far, then everything until the run ends."""
        await self._check(request.token, context)
        broadcast = await self._submissions.find(request.run)
        if broadcast is None:
            detail = (
                f"there is no run {request.run} here, or not any more: its folder is all that is left of an old run"
            )
            await context.abort(grpc.StatusCode.NOT_FOUND, detail)
        async for event in broadcast.watch():
            yield event

    async def Cancel(self, request: pb.CancelRequest, context: Context) -> pb.Cancelled:  # noqa: N802
        await self._check(request.token, context)
        return pb.Cancelled(was_running=self._submissions.cancel(request.run))

    async def Inject(self, request: pb.InjectRequest, context: Context) -> pb.Injected:  # noqa: N802
        """A fault by hand; the answer comes when its nodes have begun, or could not."""
        await self._check(request.token, context)
        try:
            events = await asyncio.to_thread(self._submissions.plan_fault, request.fault)
            planned = await answer(self._submissions.inject(events), events)
        except PameError as error:
            denied = pb.Denied(refusal=refusal_pb2.REFUSAL_BAD_FAULT, detail=str(error))
            return pb.Injected(denied=denied)
        planned.events.extend(map(planned_words, events))
        return pb.Injected(planned=planned)

    async def ListNodes(self, request: pb.ListNodesRequest, context: Context) -> pb.NodeList:  # noqa: N802
        """Everybody who ever joined."""
        await self._check(request.token, context)
        current = self._submissions.current
        members = [_member(member) for member in self._submissions.members.all()]
        return pb.NodeList(members=members, run=current.run if current else 0, page=self._submissions.page)

    def _is_ours(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())

    async def _check(self, token: str, context: Context) -> None:
        if not self._is_ours(token):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, _WRONG_TOKEN)


def _denied(refusal: "refusal_pb2.Refusal", detail: str) -> pb.Submitted:
    return pb.Submitted(denied=pb.Denied(refusal=refusal, detail=detail))


def _member(member: Member) -> pb.Member:
    return pb.Member(
        name=member.name,
        address=member.address,
        metrics_address=member.metrics_address,
        index=member.index,
        incarnation=member.incarnation,
        alive=member.alive,
        iteration=member.iteration,
        joined_seconds_ago=time.monotonic() - member.joined_at,
        code_version=member.code_version,
    )
