"""Follows the run under way, and keeps what the page shows of it, and of the last one, in bounded memory."""

import asyncio
import time
from pathlib import Path
from typing import Any, Generic, TypeVar

from contract.rpc import experiments_pb2 as pb
from contract.run_name import run_name
from contract.tasks import cancelled
from orchestrator.control import NetworkRunState
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.run_phase import BEFORE_START, Phase
from orchestrator.live.flows import LinkRates
from orchestrator.live.nodes import idle_state, look_at_nodes
from orchestrator.live.run_source import RunSource
from orchestrator.live.simulated_run import SimulatedRun
from orchestrator.live.state import look_at
from orchestrator.results.files import finite
from orchestrator.results.topology_file import read_topology
from pame.problems.image_classification import ACCURACY

MOST_POINTS = 500
_LOOK_S = 0.9
_SHARE = 20
"""A look may cost a twentieth of the time."""
_MOST_SPARES = 200

Point = TypeVar("Point")


class Recorder:
    """Follows one run after the other."""

    def __init__(self, source: RunSource, out: Path) -> None:
        self._source = source
        self._out = out
        self._record: RunRecord | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        await cancelled(self._task)

    def state(self) -> dict[str, Any]:
        """All that the page shows and that changes."""
        if self._task is not None and self._task.done():
            self._task.result()  # a mistake of ours is an error for the page, not a picture that stands still
        record, members = self._record, self._source.members
        alive = members.alive()
        nodes = [] if record is None else record.nodes(self._source)
        taken = {node["member"] for node in nodes}
        spares = [{"member": m.name, "state": idle_state(m)} for m in alive if m.name not in taken]
        return {
            "time": time.time(),
            "phase": Phase.IDLE if record is None else record.phase,
            "notice": self._source.notice,
            "campaign": self._source.campaign(),
            "members": len(alive),
            "refused_joins": dict(members.refused),
            "nodes": nodes,
            "spares": spares[:_MOST_SPARES],
            "run": None if record is None else record.told(),
        }

    async def graph(self) -> dict[str, Any] | None:
        """Edges and positions of the run that is shown; None until they are on the disk."""
        record = self._record
        return None if record is None else await record.graph(self._out)

    async def _follow(self) -> None:
        while True:
            broadcast = await self._source.find(0)
            if broadcast is None:
                return
            self._record = RunRecord(broadcast)
            async for event in broadcast.watch():
                self._record.heard(event, self._source.run)


class RunRecord:
    """What is kept of one run."""

    def __init__(self, broadcast: Broadcast) -> None:
        self._number = broadcast.run
        self._folder = broadcast.folder
        self._about = pb.Phase(phase=Phase.GATHERING)
        self._ended: pb.Ended | None = None
        self._curves = {by: DownsampledCurve[list[float | None]](MOST_POINTS) for by in ("iteration", "time")}
        self._volume: DownsampledCurve[list[float]] = DownsampledCurve(MOST_POINTS)
        self._volume.add([0.0, 0])
        self._flows = LinkRates()
        self._run: NetworkRunState | SimulatedRun | None = None
        self._nodes: list[dict[str, Any]] = []
        self._figures: dict[str, Any] = {}
        self._next_look = 0.0
        self._graph: dict[str, Any] | None = None

    @property
    def phase(self) -> str:
        """`idle` when it is over."""
        return Phase.IDLE if self._ended else self._about.phase

    def heard(self, event: pb.Event, run: NetworkRunState | SimulatedRun | None) -> None:
        """Something happened; look at the run if it is time to."""
        kind = event.WhichOneof("kind")
        if run is not None and run.number == self._number:
            self._run = run
        if kind == "phase":
            self._about = event.phase
        elif kind == "point":
            self._curves[event.point.by].add(_point(event.point))
        elif kind == "ended":
            self._ended = event.ended
        if kind in ("phase", "ended") or time.monotonic() >= self._next_look:
            self._take_look()
        if kind == "ended":
            self._run = None  # the models of a large run need not wait here for the next

    def nodes(self, source: RunSource) -> list[dict[str, Any]]:
        """Each node and its state; when the run is over, its state as a member."""
        if self._ended is None:
            return self._nodes
        if not source.nodes_stay:
            gone = ("dead", "awaited")
            return [{**node, "state": node["state"] if node["state"] in gone else "done"} for node in self._nodes]
        return [{**node, "state": idle_state(source.members.get(node["member"]))} for node in self._nodes]

    def told(self) -> dict[str, Any]:
        """All but the nodes."""
        ended = self._ended
        return {
            "id": run_name(self._number),
            "folder": self._folder,
            "name": self._about.name,
            "nodes": self._about.nodes,
            "iterations": self._about.iterations or None,
            "limit_seconds": self._about.seconds or None,
            "status": ended.status if ended else "",
            "reason": ended.reason if ended else "",
            "by_iteration": self._curves["iteration"].points(),
            "by_time": self._curves["time"].points(),
            "volume": self._volume.points(),
            **self._figures,
            **({"health": ended.health, "health_reason": ended.health_reason} if ended else {}),
        }

    async def graph(self, out: Path) -> dict[str, Any] | None:
        """Read from the folder once it is there."""
        if self._graph is None:
            found = await asyncio.to_thread(read_topology, out / self._folder)
            if found is not None:
                drawn = {"nodes": found.nodes, "kind": found.kind, "edges": found.edges, "positions": found.positions}
                self._graph = {"run": run_name(self._number), **drawn}
        return self._graph

    def _take_look(self) -> None:
        if self._run is None:
            return
        began = time.monotonic()
        if isinstance(self._run, SimulatedRun):
            self._figures, self._nodes = self._run.look(), self._run.nodes()
        else:
            self._figures = look_at(self._run, self._flows)
            self._nodes = look_at_nodes(self._run, self._flows)
        if self._run.phase not in BEFORE_START:
            self._volume.add([round(self._figures["seconds"], 3), self._figures["bytes"]])
        now = time.monotonic()
        self._next_look = now + max(_LOOK_S, _SHARE * (now - began))


class DownsampledCurve(Generic[Point]):
    """A curve in bounded memory: when it is full, every other point goes; the first and the newest always stay."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._every = 1
        self._count = 0
        self._kept: list[Point] = []
        self._newest: list[Point] = []

    def add(self, point: Point) -> None:
        if self._count % self._every == 0:
            self._kept.append(point)
            self._newest = []
            if len(self._kept) >= self._most:
                self._newest = [] if len(self._kept) % 2 else [point]
                self._kept = self._kept[::2]
                self._every *= 2
        else:
            self._newest = [point]
        self._count += 1

    def points(self) -> list[Point]:
        """At most `most` of them, in order."""
        return self._kept + self._newest


def _point(point: pb.Point) -> list[float | None]:
    """Iteration, seconds, bytes, objective, consensus; accuracy of the mean model, of the nodes: mean, lowest, highest.

    Accuracies are None where the problem has none.
    """
    seconds, own = round(point.seconds, 3), point.own
    judged = (point.metrics, own.metrics, own.lowest, own.highest)
    accuracies = [finite(of[ACCURACY]) if ACCURACY in of else None for of in judged]
    return [point.iteration, seconds, point.bytes, finite(point.objective), finite(point.consensus), *accuracies]
