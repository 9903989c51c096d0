"""What the page keeps of one run, under way or over, in bounded memory."""

import asyncio
import time
from pathlib import Path
from typing import Any

from contract.rpc import experiments_pb2 as pb
from contract.run_name import run_name
from contract.tasks import cancelled
from orchestrator.control import NetworkRunState
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.run_phase import BEFORE_START, Phase
from orchestrator.live.downsampled_curve import DownsampledCurve
from orchestrator.live.fault_windows import Disturbed, FaultWindows, RunClock, disturbed_now
from orchestrator.live.flows import LinkRates
from orchestrator.live.happenings import NodeLog, in_order
from orchestrator.live.nodes import idle_state, look_at_nodes
from orchestrator.live.run_source import RunSource
from orchestrator.live.simulated_run import SimulatedRun
from orchestrator.live.state import look_at, marked
from orchestrator.results.fault_history import read_faults
from orchestrator.results.files import finite
from orchestrator.results.topology_file import read_topology
from pame.fault_effects import Plan
from pame.problems.image_classification import ACCURACY, ImageClassification
from pame.resolved_run import ResolvedRun

MOST_POINTS = 500
_LOOK_S = 0.9
_SHARE = 20
"""A look may cost a twentieth of the time."""
_OPTIMUM_UP_TO = 5_000_000
"""Numbers in the data of all nodes; beyond that finding the optimum could be felt by the run."""


class RunRecord:
    """What is kept of one run."""

    def __init__(self, broadcast: Broadcast, path: Path) -> None:
        """`path`: of its folder, where some of it is found."""
        self._number = broadcast.run
        self._folder = broadcast.folder
        self._path = path
        self._about = pb.Phase(phase=Phase.GATHERING)
        self._ended: pb.Ended | None = None
        self._curves = {by: DownsampledCurve[list[float | None]](MOST_POINTS) for by in ("iteration", "time")}
        self._volume: DownsampledCurve[list[float]] = DownsampledCurve(MOST_POINTS)
        self._volume.add([0.0, 0, 0])
        """Seconds, bytes, median iteration."""
        self._flows = LinkRates()
        self._windows, self._log = FaultWindows(), NodeLog()
        self._happened: list[dict[str, Any]] = []
        self._faults: list[dict[str, Any]] = []
        self._plan: Plan | None = None
        """Of a simulated run, once it is on the disk."""
        self._least: float | None = None
        self._solving: asyncio.Task[None] | None = None
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

    async def close(self) -> None:
        """It was shown for the last time."""
        await cancelled(self._solving)

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
            "optimum": self._least,
            "faults": self._faults,
            "happened": f"{len(self._happened)} {self._log.count} {self._happened[-1:]}",
            **self._figures,
            **({"health": ended.health, "health_reason": ended.health_reason} if ended else {}),
        }

    def happened(self) -> dict[str, Any]:
        return {"run": run_name(self._number), "entries": self._happened}

    async def graph(self) -> dict[str, Any] | None:
        """Read from the folder once it is there."""
        if self._graph is None:
            found = await asyncio.to_thread(read_topology, self._path)
            if found is not None:
                drawn = {"nodes": found.nodes, "kind": found.kind, "edges": found.edges, "positions": found.positions}
                self._graph = {"run": run_name(self._number), **drawn}
        return self._graph

    def _take_look(self) -> None:
        run = self._run
        if run is None:
            return
        began = time.monotonic()
        if isinstance(run, SimulatedRun):
            self._look_at_simulation(run)
        else:
            self._look_at_network(run)
        if run.phase not in BEFORE_START:
            point = [round(self._figures["seconds"], 3), self._figures["bytes"], self._figures["median"]]
            self._volume.add(point)
        now = time.monotonic()
        self._next_look = now + max(_LOOK_S, _SHARE * (now - began))

    def _look_at_simulation(self, run: SimulatedRun) -> None:
        """It does what is planned, and writes the plan before it begins."""
        if self._plan is None and run.look()["fastest"]:
            faults = read_faults(self._path, None)
            self._plan = () if faults is None else faults.plan
        figures, nodes, plan = run.look(), run.nodes(), self._plan or ()
        places = [node["iteration"] for node in nodes]
        is_over = run.phase is not Phase.RUNNING or self._ended is not None
        clock = RunClock(figures["seconds"], places, self._volume.points(), min(places), is_over)
        disturbed = disturbed_now(plan, [], clock)
        self._figures = {**figures, "marked": marked(disturbed, directed=True)}
        self._nodes = [
            {
                **node,
                "state": "paused" if node["node"] in disturbed.paused else node["state"],
                "slow": node["slow"] or node["node"] in disturbed.slowed,
            }
            for node in nodes
        ]
        self._faults = self._windows.rows(plan, [], [], clock)

    def _look_at_network(self, run: NetworkRunState) -> None:
        if self._solving is None:
            self._solving = asyncio.create_task(self._solve(run.setting))
        clock = self._clock(run)
        disturbed = Disturbed() if clock.is_over else disturbed_now(run.plan, run.told, clock)
        self._figures = look_at(run, self._flows, disturbed)
        self._nodes = look_at_nodes(run, self._flows, disturbed)
        self._faults = self._windows.rows(run.plan, run.told, run.events, clock)
        if run.log is not None:
            self._log.read(run.log, clock.seconds, run.indices.held_by)
        self._happened = in_order(run.events, self._log)

    def _clock(self, run: NetworkRunState) -> RunClock:
        seconds = run.seconds() if run.took is None else run.took
        places = run.collection.iterations
        living = [places[node] for node in run.indices.alive()] or places
        return RunClock(seconds, places, self._volume.points(), min(living), run.is_ending)

    async def _solve(self, setting: ResolvedRun) -> None:
        """f*, where that is quick and the curves are drawn while the run goes on; in a thread."""
        problem = setting.problem
        if setting.store is not None or isinstance(problem, ImageClassification):
            return
        if problem.nodes * problem.local(0).samples * problem.n <= _OPTIMUM_UP_TO:
            optimum = await asyncio.to_thread(problem.optimum)
            self._least = None if optimum is None else optimum.objective


def _point(point: pb.Point) -> list[float | None]:
    """Iteration, seconds, bytes, objective, consensus; accuracy of the mean model, of the nodes: mean, lowest, highest.

    Accuracies are None where the problem has none.
    """
    seconds, own = round(point.seconds, 3), point.own
    judged = (point.metrics, own.metrics, own.lowest, own.highest)
    accuracies = [finite(of[ACCURACY]) if ACCURACY in of else None for of in judged]
    return [point.iteration, seconds, point.bytes, finite(point.objective), finite(point.consensus), *accuracies]
