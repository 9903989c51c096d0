"""One run on a network: gather the nodes, prepare them, let them run, end.

gathering -> preparing -> verifying -> running -> ending

Every wait is bounded; a node that dies does not end the run.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from statistics import median

from contract.assignment import assign, describe
from contract.counter_reports import counters_of
from contract.rpc import control_pb2 as pb
from orchestrator.control.container_faults import require_docker
from orchestrator.control.evaluation_queue import EvaluationQueue
from orchestrator.control.fault_events import fault_event
from orchestrator.control.field_ranges import ControlRefused
from orchestrator.control.fired_faults import FiredFaults
from orchestrator.control.gap_counts import GapCounts
from orchestrator.control.index_table import IndexTable
from orchestrator.control.link_check import VERIFY_S, LinkCheck
from orchestrator.control.manual_faults import require_loss
from orchestrator.control.members import SILENT_S, Member, Members
from orchestrator.control.metrics import Phase
from orchestrator.control.node_history import NodeHistory
from orchestrator.control.node_messages import check, facts_of, is_of, planned_moments
from orchestrator.control.node_reports import NodeReports, UnmeasuredPoint
from orchestrator.control.refused_reports import RefusedReports
from orchestrator.control.rejoin import Rejoins
from orchestrator.control.run_figures import state_of
from orchestrator.control.run_problems import is_killed, symptoms_of
from orchestrator.control.state import NetworkObserver
from orchestrator.control.supervised_faults import require_orders
from orchestrator.control.totals import Totals
from orchestrator.errors import MachineFault, NotEnoughNodes
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults import FaultOutcomes
from orchestrator.experiment.faults.happened import Reach, Told, on_network, told_of
from orchestrator.experiment.resolve import HARD_STOP_S
from orchestrator.results import Ending, RunFolder, Status
from orchestrator.results.health import Health, State, judge
from orchestrator.results.round_counts import RoundCounts
from pame.algorithms import ExchangeMode
from pame.errors import Diverged
from pame.evaluate import Measured
from pame.fault_effects import Plan, for_nodes
from pame.fault_plan_text import plan_lines
from pame.observe import Several
from pame.resolved_run import ResolvedRun

GATHER_S = 60.0
_PREPARE_S = 60.0
_ENDING_S = 15.0
_TICK_S = 0.25
_EXAMINE_S = 1.0
_EVENTS_KEPT = 300


@dataclass(frozen=True)
class _End:
    status: Status
    reason: str
    iteration: int


class NetworkRun:
    """The state machine of one run; the service feeds it with what the nodes say."""

    def __init__(
        self,
        number: int,
        experiment: Experiment,
        setting: ResolvedRun,
        folder: RunFolder,
        members: Members,
        watcher: NetworkObserver,
        tls: bool = False,
        log: Path | None = None,
    ) -> None:
        """`tls`: whether neighbours talk to each other over mutual TLS; `log`: where the nodes' standard error goes."""
        self.number = number
        self.tls = tls
        self._words = f"look at {log}" if log else "look at what the nodes said on their standard error"
        self.plan = setting.plan
        """With faults by hand, as they come."""
        self.links = LinkCheck(number, setting, experiment.verify)
        self.experiment = experiment
        self.folder = folder
        self.phase: Phase = "gathering"
        self.setting = setting
        self.totals = Totals(experiment.nodes)
        self.rounds = RoundCounts(setting)
        self.gaps = GapCounts(self.rounds)
        self.collection = NodeReports(self.setting, Several(folder, watcher, self.rounds))
        self.restarts = 0
        self.deaths = 0
        self.departures = 0
        """Nodes that said goodbye."""
        self.gone: set[int] = set()
        """Nodes whose stream closed although no plan says so."""
        self.unheard = ""
        """Why neighbours would refuse all that a node has to send."""
        self.health: Health | None = None
        """As it looked a moment ago; None: nothing is known yet."""
        self.events: deque[Mapping[str, object]] = deque(maxlen=_EVENTS_KEPT)
        """The newest of events.jsonl."""
        self.told: list[Told] = []
        """What was said of the plan: all of events.jsonl about it."""
        self.members = members
        self._watcher = watcher
        self._needs = needs(experiment)
        self.slow_nodes = setting.compute.slow_nodes(setting.seed, setting.topology.nodes)
        self._ends_with_the_median = bool(self.slow_nodes) or not setting.misfortune.is_public
        of_nodes = replace(setting, plan=for_nodes(setting.plan))
        self._common = describe(self.number, of_nodes, experiment.problem, tls)
        self.seats = IndexTable(experiment.nodes)
        self.strikes = FiredFaults()
        self.comebacks = Rejoins(self._common, setting, self.seats, self.collection, self.strikes)
        self.ready: set[int] = set()
        self.lossless: dict[int, str] = {}
        """Why packets cannot be lost at a node; empty: they can."""
        self.refused = RefusedReports(lambda node, detail: self._happened("refused", node, detail))
        """What nodes said that makes no sense."""
        self._history = NodeHistory()
        self._facts = facts_of(number, setting, self._common.snapshot_every)
        self._done: set[int] = set()
        self._finished: set[int] = set()
        self._silent: set[int] = set()
        self._was_silent = False
        self._breaks = 0
        """Connections that broke and came back."""
        self._last_alive = 0.0
        self._last_look = 0.0
        self._examined = 0.0
        self._evaluations = EvaluationQueue(self.collection, self._judge)
        self._leaving: set[int] = set()
        self._fault: MachineFault | None = None
        self._changed = asyncio.Event()
        self._end: _End | None = None
        self.is_over = False
        """Whether there is nothing more to see."""
        self._began: float | None = None
        self.took: float | None = None

    async def go(self) -> Ending:
        """From gathering to the end; the folder has everything but the summary then."""
        started = time.perf_counter()
        try:
            await self._gather()
            await self._prepare()
            await self._verify()
            await self._run()
        except asyncio.CancelledError:
            self._stop(_End(Status.INTERRUPTED, "stopped by the user", self._reached()))
        finally:
            await self._ending()
        if self._fault is not None:
            raise self._fault
        end = self._end or _End(Status.FAILED, "the run ended without a reason", self._reached())
        spent = time.perf_counter() - started
        if self._began is not None or self.unheard:
            self.health = judge(symptoms_of(self, is_over=True, is_failed=end.status is Status.FAILED))
            if self.health.state is State.BROKEN and end.status is Status.FINISHED:
                end = replace(end, status=Status.FAILED, reason=self.health.reason)
        exact, faults = self._is_exact(end), self._fault_outcomes()
        return Ending(end.status, end.reason, end.iteration, self.took, spent, exact, self.health, faults)

    @property
    def is_on_loopback(self) -> bool:
        """Whether all nodes are on this very machine."""
        hosts = {member.address.rpartition(":")[0] for _, member in self.seats.taken()}
        return all(host.startswith("127.") or host in ("localhost", "[::1]") for host in hosts)

    def cancel(self) -> None:
        """A user wants the run to end."""
        self._stop(_End(Status.INTERRUPTED, "stopped by the user", self._reached()))

    def fail(self, reason: str) -> None:
        """Something outside the run makes it pointless."""
        self._stop(_End(Status.FAILED, reason, self._reached()))

    def joined(self, member: Member, join: pb.Join) -> None:
        """A member came during the run: back after a break, or in the place of a dead one, or for the next run."""
        with self._surviving():
            self._joined(member, join)

    def _joined(self, member: Member, join: pb.Join) -> None:
        own = self.seats.held_by(member.name)
        if own is not None and join.run == self.number and join.incarnation == self.seats.incarnation(own):
            self.deaths -= own not in self.seats.alive()  # the new stream may be there before the old one is missed
            self.gone.discard(own)
            self.seats.take(own, member)
            self.collection.has_faults()  # what was under way may be lost
            self._breaks += 1
            self._history.broke((own, member.incarnation))
            self._happened("back", own, "the connection was broken, the node went on")
        elif self.phase == "running" and self._end is None:
            # a new process of a name means that the old one is gone, heard of or not
            seat = self.seats.first_free() if own is None else own
            if seat is not None:
                self._resume(seat, member)

    def left(self, member: Member) -> None:
        """A member's stream closed."""
        index = member.index
        if index is None or not self.seats.holds(member) or self.phase == "ending":
            return
        self.collection.has_faults()
        self.totals.died(index)
        if not is_killed(self.plan, index, self._is_disturbed(index)):
            self.gone.add(index)
        with self._surviving():
            if index in self._leaving:
                self.departures += 1
                self._happened("left", index, f"{member.name} said goodbye")
            else:
                self.deaths += 1
                self._happened("died", index, f"no connection to {member.name} any more")
        self._changed.set()

    def heard(self, member: Member, message: pb.FromNode) -> None:
        """A member of this run says something."""
        with self._surviving():
            self._heard(member, message)

    def _heard(self, member: Member, message: pb.FromNode) -> None:
        index = member.index
        kind = message.WhichOneof("kind")
        if index is None or not self.seats.holds(member):
            member.iteration = message.heartbeat.iteration if kind == "heartbeat" else member.iteration
            member.refused += kind is None
            return
        if not is_of(message, self.number) or (kind == "heartbeat" and index not in self.ready):
            return  # of a former run
        try:
            check(message, index, self._began is not None, self._facts)
            if not self._history.is_new((index, member.incarnation), message, len(self.plan)):
                return
        except ControlRefused as refused:
            member.refused += 1
            self.refused.add(index, refused)
            return
        self._take(member, index, kind, message)
        self._changed.set()

    def _take(self, member: Member, index: int, kind: str | None, message: pb.FromNode) -> None:
        """What it says makes sense."""
        if kind == "heartbeat":
            member.iteration = message.heartbeat.iteration
        elif kind == "ready":
            self.ready.add(index)
            member.iteration = 0
            self.links.ready(index, message.ready)
            self.lossless[index] = message.ready.lossless
            self.comebacks.ready(index)
        elif kind == "report":
            self.collection.report(index, message.report.records)
            if message.report.HasField("totals"):
                who, counted = (index, member.incarnation), counters_of(message.report)
                self.totals.heard(who, counted)
                self.gaps.heard(who, counted, self.seconds(), self.collection.iterations[index])
        elif kind == "snapshot":
            alive = self.seats.alive()
            self._evaluations.add(self.collection.snapshot(index, message.snapshot, self.seconds(), alive))
        elif kind == "done":
            self._done.add(index)
        elif kind == "finished":
            self._finished.add(index)
            self.totals.finished(index)
        elif kind == "failure":
            reason = message.failure.reason
            if message.failure.diverged:
                self._stop(_End(Status.DIVERGED, reason, self._reached()))
            elif message.failure.unheard:
                self.unheard = self.unheard or reason
                self._stop(_End(Status.FAILED, reason, self._reached()))
            else:
                self._stop(_End(Status.FAILED, f"{reason}; {self._words}", self._reached()))
        elif kind == "fault":
            self.strikes.heard(index, message.fault)
            self._note(fault_event(index, message.fault))
        elif kind == "moved":
            for other in message.moved.neighbours:
                self.comebacks.known(other, index)
        elif kind == "probed":
            self.links.probed(index, message.probed)
        elif kind == "goodbye":
            self._leaving.add(index)

    def inject(self, plan: Plan) -> None:
        """Faults by hand: every node learns of its part, and they stand in the plan. FaultError if nobody can do it."""
        require_docker(plan, in_containers=True)
        require_loss(plan, self.lossless)
        require_orders(plan, [self.seats.member(node) for node in range(len(self.seats))], by_hand=True)
        self.plan = (*self.plan, *plan)
        self.rounds.add(plan)
        self._facts = replace(self._facts, planned=planned_moments(self.plan))
        self._ends_with_the_median = True
        self.collection.has_faults()
        self.folder.write_plan(self.plan)
        self._common.plan = "\n".join(plan_lines(for_nodes(self.plan)))  # for those who come back
        text = "\n".join(plan_lines(for_nodes(plan)))
        for member in self.seats.living():
            member.tell(pb.ToNode(faults=pb.Faults(run=self.number, plan=text)))

    async def _gather(self) -> None:
        count = self.experiment.nodes
        self._tell_watcher()
        gathering = asyncio.create_task(self.members.gather(count, GATHER_S, self._needs))
        gathering.add_done_callback(lambda _: self._changed.set())
        try:
            await self._until(lambda: gathering.done() or self._end is not None, 2 * GATHER_S)
            members = gathering.result() if gathering.done() else []
        finally:
            gathering.cancel()
        if self._end is not None:
            return
        if len(members) < count:
            raise NotEnoughNodes(
                f"the experiment has {count} nodes, but only {len(members)} joined within {GATHER_S:g} s: start more "
                "nodes, or make nodes smaller"
            )
        require_orders(self.plan, members)
        for former in self.members.all():
            former.last_index, former.refused, former.joins = None, 0, 0
        for index, member in enumerate(members):
            self.seats.take(index, member)

    async def _prepare(self) -> None:
        if self._end is not None:
            return
        self.phase = "preparing"
        selection = self.setting.selection()
        contacts = [selection.contacts(index) for index in range(len(self.seats))]
        for index, member in self.seats.taken():
            peers = self.seats.peers(contacts[index])
            assignment = assign(self._common, index, 0, peers, links=self.setting.links)
            member.tell(pb.ToNode(assignment=assignment))
            self._happened("assigned", index, member.name)
        everybody = len(self.seats)
        await self._until(
            lambda: len(self.ready) >= everybody or self._end is not None or len(self.seats.alive()) < everybody,
            _PREPARE_S,
        )
        if self._end is None and len(self.ready) < everybody:
            missing = sorted(set(range(everybody)) - self.ready)
            raise NotEnoughNodes(
                f"nodes {missing} were not ready within {_PREPARE_S:g} s, or died before the start: {self._words}"
            )

    async def _verify(self) -> None:
        """Measure the links, before anybody uses them."""
        if self._end is not None:
            return
        if (verifying := self.links.begin(self.seats.tell)) is not None:
            self.phase = "verifying"
            verifying.add_done_callback(lambda _: self._changed.set())
            everybody = len(self.seats)
            try:
                await self._until(
                    lambda: verifying.done() or self._end is not None or len(self.seats.alive()) < everybody, VERIFY_S
                )
                if verifying.done():
                    verifying.result()
            finally:
                verifying.cancel()
            if self._end is None and len(self.seats.alive()) < everybody:
                raise NotEnoughNodes(f"a node died while the links were measured: {self._words}")
        if (end := self.links.end()) is not None:
            self._stop(_End(*end, 0))

    async def _run(self) -> None:
        if self._end is not None:
            return
        self.phase = "running"
        self._began = self._last_look = self._last_alive = time.monotonic()
        self._evaluations.start()
        for _, member in self.seats.taken():
            member.tell(pb.ToNode(start=pb.Start(run=self.number)))
        while self._end is None:
            await self._until(lambda: self._end is not None, _TICK_S)
            self._look_around()
            self._tell_watcher()

    async def _ending(self) -> None:
        self.phase = "ending"
        last = self.setting.stop.iterations
        at = self._end.iteration if self._end and self._end.status is Status.FINISHED else last
        for member in self.seats.living():
            member.tell(pb.ToNode(stop=pb.Stop(run=self.number, iteration=at)))
        if self._began is not None:
            await self._until(lambda: self.seats.alive() - self.seats.mute() <= self._finished, _ENDING_S)
        await self._evaluations.finish(_ENDING_S)
        self.seats.leave()
        self._tell_watcher()
        self.is_over = True

    def _look_around(self) -> None:
        """What no message tells: time that is over, nodes that are silent, everybody done."""
        stop, now = self.setting.stop, time.monotonic()
        last = stop.iterations
        self._notice_silence(now)
        self._done |= self.seats.at_least(last)
        seconds = stop.seconds if isfinite(stop.seconds) else HARD_STOP_S
        alive = self.seats.alive()
        if alive:
            self._last_alive = now
        heard = alive - self._silent
        if self.seconds() > seconds:
            over = f"{seconds:g} second{' is' if seconds == 1 else 's are'} over"
            self._stop(_End(Status.FINISHED, over, self._reached()))
        elif now - self._last_alive > SILENT_S:
            self._stop(_End(Status.FAILED, f"every node died: {self._words}", self._reached()))
        elif self._ends_with_the_median and 2 * len(self._done) >= len(self.seats):
            self._stop(_End(Status.FINISHED, f"the median node did {last} iterations", last))
        elif heard and heard <= self._done and self.collection.by_time:
            self._stop(_End(Status.FINISHED, f"every live node did {last} iterations", last))
        self._examine(now)

    def _examine(self, now: float) -> None:
        """A run in which nobody is heard tells nothing, however long it goes on."""
        if now - self._examined < _EXAMINE_S:
            return
        self._examined = now
        self.health = judge(symptoms_of(self, is_over=False))
        if self.health.state is State.BROKEN:
            self._stop(_End(Status.FAILED, self.health.reason, self._reached()))

    def _notice_silence(self, now: float) -> None:
        if now - self._last_look > SILENT_S / 2:  # this process itself was stopped, or too busy to listen
            self.seats.hear_everybody(now)
        self._last_look = now
        mute, alive = self.seats.mute(), self.seats.alive()
        for index in sorted(mute - self._silent):
            self._was_silent = True
            self.collection.has_faults()
            self._happened("silent", index, f"nothing heard for {SILENT_S:g} s")
        for index in sorted((self._silent - mute) & alive):
            self._happened("heard again", index, "")
        self._silent = mute

    def _judge(self, point: UnmeasuredPoint, measured: Measured) -> bool:
        """A point is measured; whether the run ends with it."""
        with self._surviving():
            try:
                decision = self.collection.judge(point, measured)
            except Diverged as error:
                self._stop(_End(Status.DIVERGED, str(error), point.iteration))
                return True
            if decision is None:
                return False
            self._stop(_End(Status.FINISHED, decision.reason, decision.iteration))
        return True

    def _stop(self, end: _End) -> None:
        if self._end is None:
            self._end = end
            self.took = None if self._began is None else self.seconds()
            self._changed.set()

    def _resume(self, index: int, member: Member) -> None:
        """A new incarnation takes the place of a dead node, where its neighbours are."""
        self.restarts += 1
        for former in (self.ready, self._done, self._leaving):
            former.discard(index)
        first = self.comebacks.begin(index, member, self.seconds())
        self._history.begins((index, member.incarnation), first)
        self._happened("restarted", index, f"{member.name}, from iteration {first}, {self.setting.restart_state}")

    @contextmanager
    def _surviving(self) -> Iterator[None]:
        """A failure of this machine while a node speaks ends the run, not the node's stream."""
        try:
            yield
        except MachineFault as error:
            self._fault = self._fault or error
            self._stop(_End(Status.FAILED, str(error), self._reached()))

    def _fault_outcomes(self) -> FaultOutcomes | None:
        if not self.plan or self.took is None:
            return None
        return on_network(self.plan, self.told, Reach(self.took, self.collection.iterations))

    def _is_disturbed(self, index: int) -> bool:
        return self.rounds.is_disturbed(self.seconds(), self.collection.iterations[index])

    def _reached(self) -> int:
        return int(median(self.collection.iterations))

    def seconds(self) -> float:
        """Since the start of the run."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def _is_exact(self, end: _End) -> bool:
        undisturbed = not (self.deaths or self.departures or self.restarts or self._was_silent or self._breaks)
        results = [k for k, _ in self.collection.results.values()]
        complete = results == [end.iteration] * len(self.seats)
        clean = self.totals.ledger().clean and self.totals.figures().clean and not self.refused.counts
        return (
            end.status is Status.FINISHED
            and self.setting.mode is ExchangeMode.ROUNDS
            and undisturbed
            and clean
            and complete
        )

    def _happened(self, what: str, node: int, detail: str) -> None:
        self._note({"seconds": round(self.seconds(), 3), "what": what, "node": node, "detail": detail})

    def note(self, event: Mapping[str, object]) -> None:
        """What the orchestrator itself has done."""
        with self._surviving():
            self._note(event)

    def _note(self, event: Mapping[str, object]) -> None:
        """In events.jsonl, and for whoever looks now."""
        self.events.append(event)
        if (told := told_of(event)) is not None:
            self.told.append(told)
            self._changed.set()
        self.folder.happened(event)

    def _tell_watcher(self) -> None:
        self._watcher.state(state_of(self))
        with self._surviving():
            self.folder.flush()

    async def _until(self, condition: Callable[[], object], seconds: float) -> None:
        """Wait for a condition that only messages can make true, at most so long."""
        deadline = time.monotonic() + seconds
        while not condition() and (left := deadline - time.monotonic()) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(min(left, _TICK_S)):
                    await self._changed.wait()
            except TimeoutError:
                if self.phase != "running":
                    self._tell_watcher()


def needs(experiment: Experiment) -> set[str]:
    """What a node must be able to run."""
    return {f"algorithm:{experiment.algorithm.kind}", f"problem:{experiment.problem.kind}"}


def new_number() -> int:
    """Of a run; never 0, and nobody's guess."""
    return secrets.randbits(63) | 1
