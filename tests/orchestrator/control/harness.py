"""An orchestrator that serves, in this process, and a client of it; node processes where a test needs some."""

import asyncio
import json
import subprocess
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from contract.rpc import experiments_pb2 as pb
from contract.rpc.experiments_pb2_grpc import ExperimentsStub
from contract.tasks import cancelled
from orchestrator.backends.processes import NodeProcesses
from orchestrator.control import ControlPlane, ExperimentsService, NetworkRunState, Submissions
from orchestrator.control.members import Member
from orchestrator.control.recorded_run import RunOrder, conduct
from orchestrator.control.run_messages import message_heard
from orchestrator.control.state import NetworkObserver
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.results import Ending
from tests.harness import BOUND_S, until
from tests.orchestrator.control.builders import member, ready

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

    async def inject(self, fault: str) -> pb.Injected:
        answer: pb.Injected = await self.stub.Inject(pb.InjectRequest(token=TOKEN, fault=fault))
        return answer

    async def under_way(self) -> NetworkRunState:
        """The run, as soon as its nodes learn."""
        await until(lambda: self.desk.run is not None and self.desk.run.phase == "running")
        assert self.desk.run is not None
        return self.desk.run

    @asynccontextmanager
    async def nodes(self, *names: str) -> AsyncIterator[NodeProcesses]:
        """Node processes of these names, which leave in the end, as the orchestrator does."""
        with NodeProcesses(self.out.parent / "nodes.log") as processes:
            for name in names:
                processes.start(name, self.control.address, TOKEN)
            yield processes
            await self.control.close("the test is over")
            await processes.wait()


@asynccontextmanager
async def served(out: Path) -> AsyncIterator[Served]:
    control = ControlPlane("127.0.0.1", token=TOKEN)
    desk = Submissions(control, out)
    await control.open(ExperimentsService(TOKEN, desk))
    feeding = asyncio.create_task(desk.feed())
    try:
        async with grpc.aio.insecure_channel(control.address) as channel:
            yield Served(control, desk, channel, out)
    finally:
        await cancelled(feeding)
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
    members = [member(i, *needs) for i in range(3)]
    for each in members:
        control.members.add(each)
    conducting = asyncio.create_task(conduct(control, order, folder, watcher))
    try:
        await until(lambda: control.run is not None and control.run.phase != "gathering")
        assert control.run is not None
        for index, each in enumerate(members):
            message_heard(control.run, each, ready(order.number, index, order.setting))
        await until(lambda: control.run is not None and control.run.phase == "running")
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


def scrape(address: str) -> str:
    """As Prometheus does."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=BOUND_S) as answer:
        return str(answer.read().decode())


def linted(text: str) -> tuple[int, str]:
    """What the linter of Prometheus makes of metrics: its exit code and its words."""
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    return done.returncode, done.stdout + done.stderr


def kinds(events: list[pb.Event]) -> list[str]:
    return [event.WhichOneof("kind") or "" for event in events]
