"""An orchestrator that serves, in this process, and a client of it; node processes where a test needs some."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from contract.rpc import experiments_pb2 as pb
from contract.rpc.experiments_pb2_grpc import ExperimentsStub
from orchestrator.control import ControlPlane, ExperimentsService, Submissions
from orchestrator.experiment import Experiment, to_yaml

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


def experiment_of(**settings: Any) -> Experiment:
    """A small experiment from plain values."""
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
