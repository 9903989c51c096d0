"""Small experiments on local processes, and those who act on them."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
import pytest

from contract.fingerprint import fingerprint
from contract.rpc import control_pb2
from contract.rpc import exchange_pb2 as pb
from contract.versions import code_version
from node.control import ATTACH
from node.stream_proof import Metadata
from node.wire_message import pack
from orchestrator.backends.local import local
from orchestrator.backends.processes import NodeProcesses
from orchestrator.control import ControlPlane, NetworkRunState, link_check
from orchestrator.control.link_check import asked_of
from orchestrator.control.recorded_run import new_number
from orchestrator.control.totals import NetworkFigures
from orchestrator.control.verification.findings import Asked
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Ending, RunFolder, Status
from pame.byte_account import ByteAccount, Fate
from pame.resolved_run import ResolvedRun
from tests.contract.harness import stream
from tests.harness import BOUND_S, Watcher, until
from tests.orchestrator.harness import events_of, summary_of
from tests.orchestrator.simulated import simulated

ROOT = Path(__file__).parents[3]
if TYPE_CHECKING:
    Attached = grpc.aio.StreamStreamCall[bytes, control_pb2.ToNode]

MARK = "PAME_TEST_MARK"
LINEAR = {"kind": "linear", "n": 30, "samples": 20, "test_samples": 10}
PAME = {"kind": "pame", "participation": 1.0, "support": 0.5}


def experiment_of(**settings: Any) -> Experiment:
    """An experiment from plain values; periods of 1 to 3, so that much is exchanged."""
    return Experiment.model_validate_json(json.dumps({"name": "test", "period": "1..3", **settings}))


def all_together(nodes: int, **settings: Any) -> Experiment:
    """On a complete graph, and all neighbours heard."""
    common = {"nodes": nodes, "topology": {"kind": "complete"}, "problem": LINEAR, "algorithm": PAME}
    return experiment_of(**{**common, **settings})


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
        return events_of(self.folder, what)

    async def at_iteration(self, member: str, k: int) -> int:
        """Wait until this member has done k iterations; its index."""
        await until(lambda: self.run.phase == "running" and self.run.collection.iterations[self.index(member)] >= k)
        return self.index(member)

    def start(self, member: str) -> None:
        self.processes.start(member, self.control.address, self.control.token)

    async def kill(self, member: str) -> None:
        """And wait until everybody knows."""
        deaths = len(self.events("died"))
        os.kill(self.pid(member), signal.SIGKILL)
        await until(lambda: len(self.events("died")) == deaths + 1)


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

    async def open(self, address: str, path: Path | None = None) -> str:
        """Where to connect to instead; with a path, it is a Unix socket, which crosses namespaces."""
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        if path is not None:
            self._server = await asyncio.start_unix_server(self._connected, path)
            return f"unix:{path}"
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


def same_as_simulated(experiment: Experiment, folder: Path) -> tuple[Ending, ByteAccount]:
    """Run it on processes and in the simulator; how that ended, and the simulator's account."""
    ending = local(experiment, folder, folder / "run", Watcher())
    account = ByteAccount(experiment.nodes)
    outcome = simulated(experiment, folder, account)
    assert (ending.status, ending.exact) == (Status.FINISHED, outcome.exact)
    assert np.abs(outcome.models).max() > 0.0
    assert np.load(folder / "run" / "models.npy").tobytes() == outcome.models.tobytes()
    summary = summary_of(folder / "run")
    assert summary["bytes"]["total"] == sum(account.links().bytes)
    assert summary["messages"]["sent"] == sum(account.links().messages)
    assert summary["messages"]["lost"] == account.messages(Fate.LOST)
    assert summary["network"]["absurd"] == 0
    return ending, account


async def receipts(channel: grpc.aio.Channel, method: str, metadata: Metadata, *messages: bytes) -> list[pb.Receipt]:
    """What is answered to messages over a stream that begins so."""
    call = stream(channel, method, pb.Receipt, metadata)
    for data in messages:
        await call.write(data)
    await call.done_writing()
    return [receipt async for receipt in call]


def forged(setting: ResolvedRun, run: int, sender: int, receiver: int, value: float) -> bytes:
    """The last message that the receiver waits for, perfect but for a model of huge finite values."""
    selection = setting.selection()
    k = max(k for k in range(setting.stop.last_iteration) if selection.is_sent(sender, receiver, k))
    node = setting.node(sender, selection, np.full(setting.problem.n, value))
    node.prepare(k)
    return pack(setting, run, sender, 0, k, node.message(k)).data


def lie_of_a_delay(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The nodes do what they were told; the orchestrator believes that it told them another delay of link 0→1."""

    def lied_to(*arguments: Any) -> dict[tuple[int, int], list[Asked]]:
        found = asked_of(*arguments)
        found[0, 1] = [replace(one, value=seconds) if one.what == "delay" else one for one in found[0, 1]]
        return found

    monkeypatch.setattr(link_check, "asked_of", lied_to)


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


FRAGILE = {
    "name": "fragile",
    "nodes": 4,
    "topology": {"kind": "complete"},
    "problem": {"kind": "linear", "n": 20, "samples": 10, "test_samples": 5},
    "period": 1,
    "compute": {"step": "10ms"},
    "stop": {"iterations": 100_000, "seconds": "90s"},
}


class FragileRun:
    """`pame run` of an experiment that goes on until something ends it, and all its processes."""

    def __init__(self, folder: Path, prefix: tuple[str, ...] = (), before: Callable[[], None] | None = None) -> None:
        self.runs = folder / "runs"
        self.mark = new_mark()
        self._file = folder / "fragile.yaml"
        self._prefix = prefix
        self._before = before
        self.process: subprocess.Popen[str] | None = None

    def start(self, backend: str = "local", **changes: Any) -> None:
        self._file.write_text(json.dumps({**FRAGILE, **changes}))
        command = [sys.executable, "-c", "from orchestrator.cli import main; main()", "run", str(self._file)]
        self.process = subprocess.Popen(
            [*self._prefix, *command, "--backend", backend, "--quiet", "--out", str(self.runs)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, MARK: self.mark},
            preexec_fn=self._before,
            start_new_session=True,
        )

    @property
    def folder(self) -> Path | None:
        return next(iter(self.runs.glob("*-fragile")), None) if self.runs.exists() else None

    def is_running(self) -> bool:
        curve = self.folder / "curve.jsonl" if self.folder else None
        return curve is not None and curve.exists() and len(curve.read_text().splitlines()) > 2

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Wait for it; exit code and standard error."""
        assert self.process is not None
        _, errors = self.process.communicate(timeout=90)
        return self.process.returncode, errors

    def is_gone(self) -> bool:
        return marked(self.mark) == {}

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)


def join_of(control: ControlPlane, **changes: Any) -> control_pb2.FromNode:
    """A join that is welcome, but for the changes."""
    welcome = {
        "token": control.token,
        "member": "somebody",
        "address": "127.0.0.1:9",
        "code_version": code_version(),
        "fingerprint": fingerprint(),
    }
    return control_pb2.FromNode(join=control_pb2.Join(**(welcome | changes)))


@asynccontextmanager
async def attached(control: ControlPlane, first: bytes) -> AsyncIterator["Attached"]:
    """A stream to the orchestrator that begins with these bytes."""
    async with grpc.aio.insecure_channel(control.address) as channel:
        call = stream(channel, ATTACH, control_pb2.ToNode)
        await call.write(first)
        yield call
        call.cancel()


async def answer(call: "Attached", kind: str) -> control_pb2.ToNode:
    async with asyncio.timeout(BOUND_S):
        while isinstance(message := await call.read(), control_pb2.ToNode):
            if message.WhichOneof("kind") == kind:
                return message
    raise AssertionError(f"the stream ended without {kind}")
