"""The runs of one command, one after another, as its live page finds them; to be used in the loop of the page."""

import asyncio
from collections.abc import Callable
from typing import Any

from orchestrator.control import ControlPlane, NetworkRunState
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.members import Members
from orchestrator.control.submission_queue import SubmissionQueue
from orchestrator.experiment import Experiment
from orchestrator.experiment.named_files import Files
from orchestrator.live.campaign_progress import CampaignProgress
from orchestrator.live.simulated_run import SimulatedRun
from orchestrator.results import Ending


class CommandRuns:
    def __init__(self, place: str, interrupt: Callable[[], None]) -> None:
        """`place`: where the runs are, in words; `interrupt`: ends a campaign, as Ctrl-C does."""
        self.notice = ""
        self.current: Broadcast | None = None
        self.queue = SubmissionQueue()
        self.place = place
        self.nodes_stay = False
        self.is_stopped = False
        """Whether whoever looks has stopped the run under way, or the last one."""
        self._interrupt = interrupt
        self._control: ControlPlane | None = None
        self._simulated: SimulatedRun | None = None
        self._campaign: CampaignProgress | None = None
        self._nobody = Members()
        self._began = asyncio.Event()
        self._submitted: dict[str, tuple[Experiment, Files]] = {}

    @property
    def members(self) -> Members:
        return self._nobody if self._control is None else self._control.members

    @property
    def run(self) -> NetworkRunState | SimulatedRun | None:
        if self._simulated is not None:
            return self._simulated
        return None if self._control is None else self._control.run

    async def find(self, run: int) -> Broadcast | None:
        while self.current is None:
            self._began.clear()
            await self._began.wait()
        return self.current

    def cancel(self, run: int) -> bool:
        in_campaign = self._campaign is not None and not self._campaign.is_over
        if not in_campaign and (self.current is None or run not in (0, self.current.run)):
            return False
        self.is_stopped = True
        if in_campaign:
            self._interrupt()
        elif self._simulated is not None:
            self._simulated.stop()
        elif self._control is not None and self._control.run is not None:
            self._control.run.cancel()
        return True

    def submitted(self, folder: str) -> tuple[Experiment, Files] | None:
        return self._submitted.get(folder)

    def campaign(self) -> dict[str, Any] | None:
        return None if self._campaign is None else self._campaign.look()

    def remember(self, folder: str, experiment: Experiment, files: Files) -> None:
        self._submitted[folder] = (experiment, files)

    def conducts(self, campaign: CampaignProgress | None) -> None:
        self.is_stopped, self._campaign = False, campaign

    def begins(self, broadcast: Broadcast, control: ControlPlane) -> None:
        """A run on nodes."""
        self._control = control
        self._begin(broadcast)

    def simulates(self, broadcast: Broadcast, run: SimulatedRun) -> None:
        self._simulated = run
        self._begin(broadcast)

    def made(self, run: NetworkRunState) -> None:
        """Somebody may have stopped it before there was anything to stop."""
        if self.is_stopped:
            run.cancel()

    def ended(self, broadcast: Broadcast, ending: Ending) -> None:
        self.current = self._control = self._simulated = None
        broadcast.ended(ending)

    def _begin(self, broadcast: Broadcast) -> None:
        if self._campaign is None or self._campaign.is_over:
            self.is_stopped, self._campaign = False, None
        self.notice = ""
        self.current = broadcast
        self._began.set()
