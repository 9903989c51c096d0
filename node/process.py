"""The node as a process: its server, its stream to the orchestrator, and the session of the run under way."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from node.account import NodeAccount
from node.assignment import assigned, peer
from node.control import ControlStream
from node.fingerprint import fingerprint
from node.metrics import Build, NodeCollector, serve
from node.server import ExchangeServer
from node.session import Session
from pame import algorithms, problems
from pame.errors import PameError
from pame.rpc import control_pb2 as pb

_DRAIN_S = 2.0


@dataclass(frozen=True)
class Options:
    """How a node is started."""

    orchestrator: str
    token: str
    member: str
    host: str = "127.0.0.1"
    """Where to listen, and what neighbours are told."""
    port: int = 0
    metrics_port: int = 0
    patience_s: float = 30.0
    lifeline: int | None = None
    """A pipe whose other end the parent holds: when it closes, whatever the reason, the node leaves."""


def code_version() -> str:
    """Of this package: orchestrator and nodes must agree."""
    return version("pame-testbed")


def capabilities() -> list[str]:
    """The algorithms and problems that this node can run."""
    return [f"algorithm:{kind}" for kind in algorithms.SPECS] + [f"problem:{kind}" for kind in problems.SPECS]


class Node:
    """Everything one node does, from start to end."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._server = ExchangeServer(options.host, options.port)
        self._session: Session | None = None
        self._metrics_port = 0
        self._leave = asyncio.Event()
        self._control = ControlStream(
            options.orchestrator, self._join, self._handle, self._heartbeat, self._say, options.patience_s
        )

    async def run(self) -> None:
        """Join, take part in runs, until dismissed or told to leave."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leave.set)
        await self._server.open()
        metrics = serve(
            NodeCollector(self._account, Build(code_version())), self._options.host, self._options.metrics_port
        )
        self._metrics_port = metrics.port
        if self._options.lifeline is not None:
            _when_cut(self._options.lifeline, self._leave.set)
        control = asyncio.create_task(self._control.run())
        leaving = asyncio.create_task(self._leave.wait())
        try:
            done, _ = await asyncio.wait((control, leaving), return_when=asyncio.FIRST_COMPLETED)
            if control in done:
                control.result()
            await self._finish_sends()
            self._control.leave("the node was told to leave")
            await asyncio.wait((control,), timeout=_DRAIN_S)
        finally:
            for task in (control, leaving):
                task.cancel()
            await asyncio.gather(control, leaving, return_exceptions=True)
            if self._session is not None:
                await self._session.close()
            await self._server.close()
            metrics.stop()

    def _account(self) -> NodeAccount:
        return self._session.account if self._session else NodeAccount()

    def _join(self) -> pb.Join:
        options, session = self._options, self._session
        return pb.Join(
            token=options.token,
            member=options.member,
            address=f"{options.host}:{self._server.port}",
            metrics_address=self._metrics_address,
            code_version=code_version(),
            fingerprint=fingerprint(),
            pid=os.getpid(),
            run=session.assigned.run if session else 0,
            incarnation=session.assigned.incarnation if session else 0,
            capabilities=capabilities(),
        )

    @property
    def _metrics_address(self) -> str:
        return f"{self._options.host}:{self._metrics_port}"

    def _say(self, what: str) -> None:
        """One line for whoever started this node."""
        print(f"{self._options.member}: {what}", file=sys.stderr, flush=True)

    def _heartbeat(self) -> pb.Heartbeat:
        return pb.Heartbeat(iteration=self._session.account.iteration if self._session else 0)

    async def _handle(self, message: pb.ToNode) -> None:
        match message.WhichOneof("kind"):
            case "assignment":
                await self._assigned(message.assignment)
            case "start" if self._is_current(message.start.run):
                self._current().start()
            case "neighbours" if self._is_current(message.neighbours.run):
                self._current().moved(peer(found) for found in message.neighbours.neighbours)
            case "stop" if self._is_current(message.stop.run):
                await self._current().stop(message.stop.iteration, _DRAIN_S)
                self._session = None
            case "dismissed":
                self._say(f"dismissed: {message.dismissed.reason}")
                self._leave.set()
            case "welcome":
                self._say(f"joined {self._options.orchestrator}, metrics at http://{self._metrics_address}/metrics")

    async def _assigned(self, message: pb.Assignment) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        try:
            self._session = Session(assigned(message), self._server, self._control.send, self._control.room)
            await self._session.prepare()
        except PameError as error:
            self._control.send(pb.FromNode(failure=pb.Failure(run=message.run, reason=str(error))))
            return
        self._say(f"run {message.run:x}: node {message.index} of {message.nodes}")
        self._control.send(pb.FromNode(ready=pb.Ready(run=message.run)))

    def _is_current(self, run: int) -> bool:
        return self._session is not None and self._session.assigned.run == run

    def _current(self) -> Session:
        if self._session is None:
            raise RuntimeError("a command for a run arrived when there was none")
        return self._session

    async def _finish_sends(self) -> None:
        if self._session is not None:
            await self._session.stop(self._session.account.iteration, _DRAIN_S)
            self._session = None


def _when_cut(lifeline: int, action: Callable[[], None]) -> None:
    """Nothing is ever written to a lifeline: readable means that its other end is gone."""
    loop = asyncio.get_running_loop()

    def cut() -> None:
        loop.remove_reader(lifeline)
        action()

    loop.add_reader(lifeline, cut)
