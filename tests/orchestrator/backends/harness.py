"""Small experiments on local processes, and those who act on them."""

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from contract.fingerprint import fingerprint
from contract.rpc import control_pb2 as pb
from contract.versions import code_version
from node.control import ATTACH
from orchestrator.backends.processes import NodeProcesses
from orchestrator.control import ControlPlane, NetworkRunState
from orchestrator.control.recorded_run import new_number
from orchestrator.control.totals import NetworkFigures
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Ending, RunFolder
from tests.harness import BOUND_S, Watcher, until

MARK = "PAME_TEST_MARK"
LINEAR = {"kind": "linear", "n": 30, "samples": 20, "test_samples": 10}
PAME = {"kind": "pame", "participation": 1.0, "support": 0.5}


def experiment_of(**settings: Any) -> Experiment:
    """An experiment from plain values; periods of 1 to 3, so that much is exchanged."""
    return Experiment.model_validate_json(json.dumps({"name": "test", "period": "1..3", **settings}))


def on_a_ring(nodes: int, **settings: Any) -> Experiment:
    """With a round at every iteration, and all neighbours heard."""
    common = {"nodes": nodes, "topology": {"kind": "ring"}, "problem": LINEAR, "algorithm": PAME, "period": 1}
    return experiment_of(**{**common, **settings})


@dataclass
class Outcome:
    ending: Ending
    run: NetworkRunState
    figures: NetworkFigures
    events: list[dict[str, Any]]
    codes: dict[int, int]
    """Exit codes by process id."""
    refused_joins: dict[str, int]

    def happened(self, what: str) -> list[int]:
        return [event["node"] for event in self.events if event["what"] == what]


@dataclass
class World:
    """A run under way: who conducts it, its processes, and what has happened so far."""

    control: ControlPlane
    processes: NodeProcesses
    run: NetworkRunState
    folder: Path
    left: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """When the run is over."""
        assert self.left is not None
        return self.left

    def pid(self, member: str) -> int:
        return self.processes.alive()[member]

    def index(self, member: str) -> int:
        found = self.control.members.get(member)
        assert found is not None
        assert found.index is not None
        return found.index

    def events(self, what: str) -> list[dict[str, Any]]:
        return [event for event in events_of(self.folder) if event["what"] == what]

    async def at_iteration(self, member: str, k: int) -> int:
        """Wait until this member has done k iterations; its index."""
        await until(lambda: self.run.phase == "running" and self.run.collection.iterations[self.index(member)] >= k)
        return self.index(member)

    def start(self, member: str) -> None:
        self.processes.start(member, self.control.address, self.control.token)


@asynccontextmanager
async def running(
    experiment: Experiment, folder: Path, relay: "Relay | None" = None, of_nodes: Mapping[str, str] | None = None
) -> AsyncIterator[World]:
    """A run on real processes, to act on; in the end it is over. Nodes may join through a relay, and have variables of
    their own in their environment.
    """
    with RunFolder(folder) as files, node_processes(folder / "nodes.log", of_nodes or {}) as processes:
        control = ControlPlane("127.0.0.1")
        await control.open()
        try:
            entrance = control.address if relay is None else await relay.open(control.address)
            for number in range(experiment.nodes):
                processes.start(f"node-{number}", entrance, control.token)
            setting = make_network_setting(experiment, folder)
            run = NetworkRunState(new_number(), experiment, setting, files, control.members, Watcher())
            world = World(control, processes, run, folder)
            going = asyncio.create_task(control.go(run))
            yield world
            ending = await going
        finally:
            await control.close("the run is over")
            await processes.wait()
            if relay is not None:
                await relay.close()
        refused = dict(control.members.refused)
        world.left = Outcome(ending, run, run.totals.figures(), events_of(folder), processes.codes(), refused)


def node_processes(log: Path, environment: Mapping[str, str]) -> NodeProcesses:
    """With these variables, which are not this process'."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        return NodeProcesses(log)


class Relay:
    """Stands between the nodes and the orchestrator, and can cut every connection at once."""

    def __init__(self) -> None:
        self._writers: list[asyncio.StreamWriter] = []
        self._pumps: set[asyncio.Task[None]] = set()

    async def open(self, address: str) -> str:
        """Where to connect to instead."""
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection(self._host, self._port)
        self._writers += [writer, other_writer]
        for source, sink in ((reader, other_writer), (other_reader, writer)):
            pump = asyncio.create_task(self._pump(source, sink))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    @staticmethod
    async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        sink.close()


def events_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "events.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def new_mark() -> str:
    """To be put into the environment: every process that inherits it can be found again."""
    return uuid.uuid4().hex


def marked(mark: str) -> dict[int, str]:
    """Command lines of the living processes with this mark, by process id; a zombie has no environment."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
    return found


def join_of(control: ControlPlane, **changes: Any) -> pb.FromNode:
    """A join that is welcome, but for the changes."""
    join = pb.Join(
        token=control.token,
        member="somebody",
        address="127.0.0.1:9",
        code_version=code_version(),
        fingerprint=fingerprint(),
    )
    for name, value in changes.items():
        setattr(join, name, value)
    return pb.FromNode(join=join)


@asynccontextmanager
async def attached(control: ControlPlane, first: bytes) -> "AsyncIterator[grpc.aio.StreamStreamCall[bytes, pb.ToNode]]":
    """A stream to the orchestrator that begins with these bytes."""
    async with grpc.aio.insecure_channel(control.address) as channel:
        attach: grpc.aio.StreamStreamMultiCallable[bytes, pb.ToNode]
        attach = channel.stream_stream(ATTACH, None, pb.ToNode.FromString)
        call = attach()
        await call.write(first)
        yield call
        call.cancel()


async def answer(call: "grpc.aio.StreamStreamCall[bytes, pb.ToNode]", kind: str) -> pb.ToNode:
    async with asyncio.timeout(BOUND_S):
        while isinstance(message := await call.read(), pb.ToNode):
            if message.WhichOneof("kind") == kind:
                return message
    raise AssertionError(f"the stream ended without {kind}")
