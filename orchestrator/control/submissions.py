"""Where experiments are handed in: one run at a time, on the nodes that are there."""

import asyncio
import logging
from collections import deque
from pathlib import Path

from contract.logs import log_event, log_mistake
from orchestrator.control.abilities import needs, require_abilities, require_orders
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.manual_faults import inject, plan_fault, running
from orchestrator.control.recorded_run import RunOrder, conduct, make_order, uses_tls
from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.server import ControlPlane
from orchestrator.control.submission_queue import SubmissionQueue
from orchestrator.evaluation import require_room
from orchestrator.experiment import Experiment
from orchestrator.experiment.named_files import Files
from orchestrator.results import Ending, Status, create_folder
from pame.errors import PameError
from pame.fault_effects import FaultEvent, Plan

_LOG = logging.getLogger(__name__)
_REMEMBERED = 4
"""Runs that are over and can still be watched."""


class Busy(PameError):
    """A run is under way."""


class Submissions:
    """Takes orders, and knows the run under way and the last ones."""

    def __init__(self, control: ControlPlane, out: Path) -> None:
        """`out`: where run folders go."""
        self.members = control.members
        self.current: Broadcast | None = None
        """The run under way."""
        self._control = control
        self._out = out
        self._busy = False
        self._is_cancelled = False
        """The run that was submitted last."""
        self._known: deque[Broadcast] = deque(maxlen=_REMEMBERED)
        self._task: asyncio.Task[Ending] | None = None
        self._changed = asyncio.Event()
        self.place = "on the nodes that have joined"
        """Where runs are, for whoever looks."""
        self.nodes_stay = True
        self.page = ""
        """The address at which the live page listens; empty: there is none."""
        self.queue = SubmissionQueue()
        """Of those who do not mind to wait."""
        self._begun: deque[tuple[str, Experiment, Files]] = deque(maxlen=_REMEMBERED)
        self.notice = ""
        """A line for whoever looks at the live page: what is waited for, or why nothing begins."""

    @property
    def run(self) -> NetworkRunState | None:
        """Its state machine, once it gathers nodes."""
        return self._control.run

    async def submit(self, experiment: Experiment, files: Files) -> Broadcast:
        """Begin a run, with the files that the experiment names; it goes on by itself. Raises `Busy`, or what is wrong
        with the experiment."""
        if self._busy:
            raise Busy("a run is under way: watch it with `pame watch`, and try again when it is over")
        uses_tls(experiment, self._control.is_secured)
        self._busy, self._is_cancelled = True, False
        try:
            order = await asyncio.to_thread(make_order, experiment, files, "serve")
            self._require_orders(order)
            require_room(experiment, order.setting.problem, None, self._out)
            folder = create_folder(self._out, experiment.name)
        except BaseException:
            self._busy = False
            self._changed.set()
            raise
        broadcast = Broadcast(order.number, experiment, folder.name)
        self.current = broadcast
        self._known.append(broadcast)
        self._begun.append((folder.name, experiment, files))
        self._task = asyncio.create_task(self._conduct(order, folder, broadcast))
        log_event(_LOG, "run_begins", run=order.number, folder=str(folder), nodes=experiment.nodes)
        self._changed.set()
        return broadcast

    def _require_orders(self, order: RunOrder) -> None:
        """If everybody is there; otherwise the run looks again when they are."""
        experiment = order.experiment
        require_abilities(self.members.within_reach(), needs(experiment), experiment.nodes)
        there = self.members.within_reach(needs(experiment))
        if len(there) >= experiment.nodes:
            require_orders(order.setting.plan, there)

    def plan_fault(self, text: str) -> tuple[FaultEvent, ...]:
        """For the run under way."""
        return plan_fault(running(self.run), text)

    def inject(self, events: Plan) -> NetworkRunState:
        run = running(self.run)
        inject(run, events)
        return run

    def cancel(self, run: int) -> bool:
        """End a run in order; False if it is not the one under way."""
        if self.current is None or run not in (0, self.current.run):
            return False
        self._is_cancelled = True
        if self._control.run is not None:
            self._control.run.cancel()
        return True

    def _made(self, run: NetworkRunState) -> None:
        """Somebody may have cancelled it before there was anything to cancel."""
        if self._is_cancelled:
            run.cancel()

    async def find(self, run: int) -> Broadcast | None:
        """A run by its number; 0: the one under way, or else the next, however long that takes."""
        if run:
            return next((known for known in self._known if known.run == run), None)
        while self.current is None:
            await self._change()
        return self.current

    def submitted(self, folder: str) -> tuple[Experiment, Files] | None:
        """What a run of the last few was begun with, by the name of its folder."""
        return next(((experiment, files) for name, experiment, files in self._begun if name == folder), None)

    def campaign(self) -> None:
        """Of runs that are handed in one by one nobody knows what they are a part of."""

    async def feed(self) -> None:
        """Begin what waits in the queue, one after another, until cancelled."""
        while True:
            await self.queue.filled()
            await self.idle()
            if (queued := self.queue.take()) is None:
                continue
            try:
                await self.submit(queued.experiment, queued.files)
            except Busy:  # somebody was quicker
                self.queue.put_back(queued)
            except PameError as error:
                self.notice = f"{queued.experiment.name} could not begin: {error}"
            else:
                self.notice = ""

    async def ending(self) -> Ending | None:
        """How the run under way, or the last one, ends."""
        return await asyncio.shield(self._task) if self._task else None

    async def idle(self) -> None:
        """Wait until a run could begin."""
        while self._busy:
            await self._change()

    async def _conduct(self, order: RunOrder, folder: Path, broadcast: Broadcast) -> Ending:
        try:
            ending = await conduct(self._control, order, folder, broadcast, made=self._made)
        except PameError as error:
            ending = Ending(Status.FAILED, str(error), 0, None, 0.0, exact=False)
        except Exception as error:  # a mistake of ours; the next run has a right to begin
            log_mistake(_LOG, "mistake", error)
            ending = Ending(Status.FAILED, repr(error), 0, None, 0.0, exact=False)
        self._control.run = None
        self.current, self._busy = None, False
        log_event(
            _LOG,
            "run_ended",
            run=order.number,
            folder=str(folder),
            status=ending.status.value,
            reason=ending.reason,
            iterations=ending.iterations,
            seconds=ending.seconds,
        )
        broadcast.ended(ending)
        self._changed.set()
        return ending

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
