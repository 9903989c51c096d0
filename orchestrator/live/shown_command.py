"""A command with a live page: its runs, wherever they are, are shown and can be acted on while it goes on."""

import secrets
import signal
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.control import ControlPlane, NetworkObserver, NetworkRunState
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.recorded_run import new_number
from orchestrator.control.submission_queue import QueuedExperiment
from orchestrator.experiment import Experiment
from orchestrator.experiment.named_files import Files
from orchestrator.live.campaign_progress import CampaignProgress
from orchestrator.live.command_runs import CommandRuns
from orchestrator.live.page import LivePage
from orchestrator.live.page_thread import PageThread
from orchestrator.live.simulated_run import SimulatedRun
from orchestrator.results import Ending, Status

T = TypeVar("T")
_HOST = "127.0.0.1"


class ShownCommand:
    """To be used in the main thread; the page has a thread of its own, and a free port."""

    def __init__(self, out: Path, place: str) -> None:
        """`out`: where run folders go; `place`: where what is submitted runs, in words."""
        self._out = out
        self._thread = PageThread()
        self._runs = CommandRuns(place, _interrupt)
        self._token = secrets.token_urlsafe(16)
        self._page = LivePage(self._runs, out, self._token, _HOST, 0)
        try:
            self._thread.carry_out(self._page.open())
        except BaseException:
            self._thread.close()
            raise

    @property
    def url(self) -> str:
        """With the token where no server ever hears of it."""
        return f"http://{self._page.address}/#token={self._token}"

    @property
    def is_stopped(self) -> bool:
        """Whether the last run, or the campaign, was stopped on the page."""
        return self._runs.is_stopped

    def close(self) -> None:
        self._thread.carry_out(self._page.close())
        self._thread.close()

    def carry_out(self, work: Coroutine[Any, Any, T]) -> T:
        """Where runs on nodes go on: beside the page, which looks at them."""
        return self._thread.carry_out(work)

    def begins(
        self, experiment: Experiment, number: int, folder: Path, files: Files, control: ControlPlane
    ) -> Broadcast:
        """A run on nodes, in the loop of the page; who conducts it tells the broadcast."""
        broadcast = Broadcast(number, experiment, self._name(folder))
        self._runs.remember(broadcast.folder, experiment, files)
        self._runs.begins(broadcast, control)
        return broadcast

    def made(self, run: NetworkRunState) -> None:
        self._runs.made(run)

    def ended(self, broadcast: Broadcast, ending: Ending | None) -> None:
        """None: it could not go on."""
        self._runs.ended(broadcast, ending or broken_off("it could not go on"))

    def simulate(
        self,
        experiment: Experiment,
        files: Files,
        folder: Path,
        observer: NetworkObserver,
        run: Callable[[NetworkObserver], Ending],
    ) -> Ending:
        """`run`: does it, in this thread, watched by whom it is given."""
        number = new_number()
        broadcast = Broadcast(number, experiment, self._name(folder))
        simulated = SimulatedRun(number, experiment, broadcast, self._thread.call, observer)
        self._thread.call(self._runs.remember, broadcast.folder, experiment, files)
        self._thread.call(self._runs.simulates, broadcast, simulated)
        self._thread.call(simulated.tell)
        ending = broken_off("it could not go on")
        try:
            ending = run(simulated)
        finally:
            self._thread.call(self._runs.ended, broadcast, ending)
        return ending

    def conducts(self, name: str, verb: str, folder: Path) -> CampaignProgress:
        progress = CampaignProgress(name, verb, self._name(folder))
        self._thread.call(self._runs.conducts, progress)
        return progress

    def say(self, notice: str) -> None:
        """To whoever looks."""
        self._thread.call(setattr, self._runs, "notice", notice)

    def next(self, stays: bool) -> QueuedExperiment | None:
        """What is to run next, if anything waits; `stays`: wait for it. Ctrl-C says that nobody wants to."""
        return self._thread.carry_out(self._next(stays))

    async def _next(self, stays: bool) -> QueuedExperiment | None:
        if stays:
            await self._runs.queue.filled()
        queued = self._runs.queue.take()
        if queued is None:
            self._runs.place = ""
        return queued

    def _name(self, folder: Path) -> str:
        """Below the run folders, as the page asks for it."""
        return str(folder.relative_to(self._out)) if folder.is_relative_to(self._out) else folder.name


def _interrupt() -> None:
    """As Ctrl-C does."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


def broken_off(reason: str) -> Ending:
    return Ending(Status.FAILED, reason, 0, None, 0.0, exact=False)
