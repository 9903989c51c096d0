"""An orchestrator that serves, in this process, and a client of it; node processes where a test needs some."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from contract.rpc import experiments_pb2 as pb
from contract.rpc.experiments_pb2_grpc import ExperimentsStub
from orchestrator.control import ControlPlane, ExperimentsService, NetworkRunState, Submissions
from orchestrator.control.members import Member
from orchestrator.control.recorded_run import RunOrder, conduct
from orchestrator.control.run_messages import message_heard
from orchestrator.control.state import NetworkObserver
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.results import Ending
from tests.orchestrator.control.builders import ready

TOKEN = "a token"


@dataclass
class Served:
    control: ControlPlane
    desk: Submissions
    channel: grpc.aio.Channel
    out: Path

    def __post_init__(self) -> None:
        self.stub: Any = ExperimentsStub(self.channel)  # type: ignore[no-untyped-call]

    async def submit(self, text: str, token: str = TOKEN) -> pb.Submitted:
        answer: pb.Submitted = await self.stub.Submit(pb.Submission(experiment=text, token=token))
        return answer

    async def watch(self, run: int) -> list[pb.Event]:
        return [event async for event in self.stub.Watch(pb.WatchRequest(run=run, token=TOKEN))]

    async def cancel(self, run: int) -> bool:
        answer: pb.Cancelled = await self.stub.Cancel(pb.CancelRequest(run=run, token=TOKEN))
        return answer.was_running


@asynccontextmanager
async def served(out: Path) -> AsyncIterator[Served]:
    control = ControlPlane("127.0.0.1", token=TOKEN)
    desk = Submissions(control, out)
    await control.open(ExperimentsService(TOKEN, desk))
    try:
        async with grpc.aio.insecure_channel(control.address) as channel:
            yield Served(control, desk, channel, out)
    finally:
        if desk.cancel(0):
            await desk.ending()
        await control.close("the test is over")


@asynccontextmanager
async def run_of_three(
    order: RunOrder, folder: Path, watcher: NetworkObserver
) -> AsyncIterator[tuple[NetworkRunState, list[Member], "asyncio.Task[Ending]"]]:
    """A run of three nodes for which the test speaks: they have said that they are ready, and it goes on."""
    control = ControlPlane("127.0.0.1")
    needs = frozenset({f"algorithm:{order.experiment.algorithm.kind}", f"problem:{order.experiment.problem.kind}"})
    members = [Member(f"node-{i}", f"127.0.0.1:{i + 1}", "", "1", 1, needs) for i in range(3)]
    for member in members:
        control.members.add(member)
    conducting = asyncio.create_task(conduct(control, order, folder, watcher))
    try:
        async with asyncio.timeout(60):
            while control.run is None or control.run.phase == "gathering":
                await asyncio.sleep(0.01)
            for index, member in enumerate(members):
                message_heard(control.run, member, ready(order.number, index, order.setting))
            while control.run.phase != "running":
                await asyncio.sleep(0.01)
        yield control.run, members, conducting
    finally:
        conducting.cancel()
        await control.close("the test is over")


def experiment_of(**settings: Any) -> Experiment:
    small = {
        "name": "small",
        "nodes": 3,
        "topology": {"kind": "ring"},
        "problem": {"kind": "linear", "n": 20, "samples": 30, "test_samples": 20},
        "period": "1..3",
        "stop": {"iterations": 30},
    }
    return Experiment.model_validate_json(json.dumps(small | settings))


def text_of(**settings: Any) -> str:
    """The same as the text of a file."""
    return to_yaml(experiment_of(**settings))


def kinds(events: list[pb.Event]) -> list[str]:
    return [event.WhichOneof("kind") or "" for event in events]
