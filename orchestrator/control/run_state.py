"""All that an orchestrator knows of one run: what it was given, where it is, and what its nodes have said.

The functions that change it are in `run_phases` (its life), `run_messages` (what nodes say), `run_membership` (nodes
that come and go), `end_of_run` (when it ends without being told) and `manual_faults`.
"""

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from contract.assignment import describe
from contract.data_delivery import shard_source
from contract.fingerprint import fingerprint_for
from contract.rpc import control_pb2 as pb
from orchestrator.control.data_deliveries import DataDeliveries
from orchestrator.control.fired_faults import FiredFaults
from orchestrator.control.gap_counts import GapCounts
from orchestrator.control.index_table import IndexTable
from orchestrator.control.link_check import LinkCheck
from orchestrator.control.members import Members
from orchestrator.control.node_history import NodeHistory
from orchestrator.control.node_messages import NodeFacts
from orchestrator.control.node_reports import NodeReports, UnmeasuredPoint
from orchestrator.control.refused_reports import RefusedReports
from orchestrator.control.rejoin import Rejoins
from orchestrator.control.run_phase import Phase, moved
from orchestrator.control.state import NetworkObserver
from orchestrator.control.totals import Totals
from orchestrator.errors import MachineFault
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults.happened import Told
from orchestrator.results import RunFolder, Status
from orchestrator.results.events import EventWord, told_of
from orchestrator.results.health import Health
from orchestrator.results.round_counts import RoundCounts
from pame.fault_effects import for_nodes
from pame.observe import Several
from pame.resolved_run import ResolvedRun

_EVENTS_KEPT = 300


@dataclass(frozen=True)
class RunEnd:
    """Why a run ends, and at which iteration."""

    status: Status
    reason: str
    iteration: int


@dataclass
class Disturbances:
    """What happened to nodes of a run; after any of it the result is not the simulator's bit by bit."""

    deaths: int = 0
    departures: int = 0
    """Nodes that said goodbye."""
    restarts: int = 0
    reconnections: int = 0
    """Connections that broke and came back."""
    silences: int = 0

    def __bool__(self) -> bool:
        return any((self.deaths, self.departures, self.restarts, self.reconnections, self.silences))


@dataclass
class NodeSets:
    """The indices of the nodes of which something is true."""

    ready: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    """Did all iterations."""
    finished: set[int] = field(default_factory=set)
    """Sent everything that they had to send after the end."""
    leaving: set[int] = field(default_factory=set)
    silent: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    """Their stream closed although no plan says so."""


@dataclass(eq=False)
class NetworkRunState:
    number: int
    experiment: Experiment
    setting: ResolvedRun
    folder: RunFolder
    members: Members
    watcher: NetworkObserver
    tls: bool = False
    """Whether neighbours talk to each other over mutual TLS."""
    log: Path | None = None
    """Where the nodes' standard error goes."""
    phase: Phase = Phase.GATHERING
    end: RunEnd | None = None
    fault: MachineFault | None = None
    """What this machine failed at."""
    began: float | None = None
    held_at: float | None = None
    """Since when the run is held, by our clock; None: it goes on."""
    took: float | None = None
    health: Health | None = None
    """As it looked a moment ago; None: nothing is known yet."""
    unheard: str = ""
    """Why neighbours would refuse all that a node has to send."""
    nodes: NodeSets = field(default_factory=NodeSets)
    disturbances: Disturbances = field(default_factory=Disturbances)
    other_builds: set[int] = field(default_factory=set)
    """Nodes that compute other bits than this machine, by what they say of torch."""
    lossless: dict[int, str] = field(default_factory=dict)
    """Why packets cannot be lost at a node; empty: they can."""
    events: deque[Mapping[str, object]] = field(default_factory=lambda: deque(maxlen=_EVENTS_KEPT))
    """The newest of events.jsonl."""
    told: list[Told] = field(default_factory=list)
    """What was said of the plan: all of events.jsonl about it."""
    fired: FiredFaults = field(default_factory=FiredFaults)
    history: NodeHistory = field(default_factory=NodeHistory)
    points: asyncio.Queue[UnmeasuredPoint] = field(default_factory=asyncio.Queue)
    """Of the curves: they wait to be measured and judged."""
    judging: asyncio.Task[None] | None = None
    """Does that, as soon as the nodes run."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Something happened that a phase may wait for."""

    judged: tuple[int, int] = (0, 0)
    """Points that were judged after the run, and of how many."""
    is_judging_stopped: bool = False
    """Whether somebody does not want to wait for it."""

    def __post_init__(self) -> None:
        setting, nodes = self.setting, self.experiment.nodes
        self.plan = setting.plan
        """With faults by hand, as they come."""
        self.slow_nodes = setting.conditions.slow_nodes
        self.ends_with_the_median = setting.conditions.keep_nodes_apart
        self.totals = Totals(nodes)
        self.rounds = RoundCounts(setting)
        self.gaps = GapCounts(self.rounds)
        self.collection = NodeReports(setting, Several(self.folder, self.watcher, self.rounds))
        of_nodes = replace(setting, plan=for_nodes(setting.plan))
        self.common = describe(self.number, of_nodes, self.experiment.problem, self.tls)
        """What all assignments share."""
        self.facts = NodeFacts(setting, self.common.snapshot_every)
        self.torch_fingerprint = fingerprint_for(setting.problem)
        self.deliveries = DataDeliveries(self.number, shard_source(setting.problem))
        self.indices = IndexTable(nodes)
        self.links = LinkCheck(self.number, setting, self.experiment.verify, self.indices.tell)
        self.rejoins = Rejoins(self.common, setting, self.indices, self.collection, self.fired)
        self.refused = RefusedReports(lambda node, detail: self.happened(EventWord.REFUSED, node, detail))
        """What nodes said that makes no sense."""

    @property
    def where_to_look(self) -> str:
        return f"look at {self.log}" if self.log else "look at what the nodes said on their standard error"

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to see."""
        return self.phase in (Phase.EVALUATING, Phase.IDLE)

    @property
    def is_ending(self) -> bool:
        return self.phase in (Phase.ENDING, Phase.EVALUATING, Phase.IDLE)

    @property
    def is_on_loopback(self) -> bool:
        """Whether all nodes are on this very machine."""
        hosts = {member.address.rpartition(":")[0] for _, member in self.indices.taken()}
        return all(host.startswith("127.") or host in ("localhost", "[::1]") for host in hosts)

    def seconds(self) -> float:
        """Since the start of the run, without the time for which it was held."""
        return 0.0 if self.began is None else (self.held_at or time.monotonic()) - self.began

    @property
    def is_held(self) -> bool:
        return self.held_at is not None

    def hold(self, is_held: bool) -> None:
        """All nodes wait at their next iteration, and the clock of the run stands still; or both go on."""
        if is_held is self.is_held or self.began is None:
            return
        self.record({"seconds": round(self.seconds(), 3), "what": EventWord.HELD if is_held else EventWord.GOES_ON})
        if self.held_at is None:
            self.held_at = time.monotonic()
        else:
            self.began += time.monotonic() - self.held_at
            self.held_at = None
        self.rejoins.is_held = is_held
        for member in self.indices.living():
            member.tell(pb.ToNode(hold=pb.Hold(run=self.number, on=is_held)))

    def enter(self, phase: Phase) -> None:
        self.phase = moved(self.phase, phase)

    def stop(self, status: Status, reason: str, iteration: int | None = None) -> None:
        """The first reason counts; `iteration`: None for that of the median node."""
        if self.end is None:
            reached = int(median(self.collection.iterations)) if iteration is None else iteration
            self.end = RunEnd(status, reason, reached)
            self.took = None if self.began is None else self.seconds()
            self.changed.set()

    def cancel(self) -> None:
        """A user wants the run to end, or does not want to wait for what is evaluated after it."""
        self.is_judging_stopped = True
        self.stop(Status.INTERRUPTED, "stopped by the user")

    def happened(self, what: EventWord, node: int, detail: str) -> None:
        self.record({"seconds": round(self.seconds(), 3), "what": what, "node": node, "detail": detail})

    def record(self, event: Mapping[str, object]) -> None:
        self.events.append(event)
        if (told := told_of(event)) is not None:
            self.told.append(told)
            self.changed.set()
        with self.surviving():
            self.folder.happened(event)

    @contextmanager
    def surviving(self) -> Iterator[None]:
        """A failure of this machine while a node speaks ends the run, not the node's stream."""
        try:
            yield
        except MachineFault as error:
            self.fault = self.fault or error
            self.stop(Status.FAILED, str(error))
