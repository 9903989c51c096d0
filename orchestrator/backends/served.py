"""An orchestrator as a service: nodes and clients come and go, and it stays until it is told to leave."""

import asyncio
import logging
import signal
from dataclasses import dataclass
from math import inf
from pathlib import Path

from contract.logs import log_event
from contract.ports.health_server import HealthServer
from orchestrator.control import Busy, ControlPlane, ExperimentsService, Submissions
from orchestrator.control.members import Members
from orchestrator.control.security import leave_authority
from orchestrator.errors import NotEnoughNodes
from orchestrator.experiment import Experiment, ExperimentError, load, swept_keys
from orchestrator.results import Ending
from pame.errors import PameError

_LOG = logging.getLogger(__name__)
_REMIND_S = 10.0
_LOOK_S = 1.0
_WAITING = "waiting for "


@dataclass(frozen=True)
class FirstRun:
    """The experiment that begins by itself, when `nodes` have joined or nobody has come or gone for `stable_s`."""

    file: Path
    nodes: int | None
    stable_s: float
    patience_s: float | None = None
    """How long to wait for the nodes before giving up; None: for ever."""

    def experiment(self, nodes: int | None) -> Experiment:
        """With so many nodes, whatever the file says."""
        variants = load(self.file, [] if nodes is None else [f"nodes={nodes}"])
        if len(variants) > 1:
            sweep = ", ".join(swept_keys(variants))
            raise ExperimentError([f"{self.file}: a sweep (over {sweep}) is no single run: give one experiment"])
        return variants[0].experiment

    async def begin(self, submissions: Submissions) -> None:
        """Wait for the nodes, then begin; if so many nodes do not go with the experiment, wait for another number."""
        reminding = asyncio.create_task(self._remind(submissions))
        refused = ""
        try:
            async with asyncio.timeout(self.patience_s):
                while True:
                    count = await self._members(submissions.members)
                    try:
                        await submissions.submit(self.experiment(count), self.file.parent)
                    except Busy:
                        await submissions.idle()
                    except PameError as error:
                        refused = f"{count} nodes do not go with {self.file.name}: {str(error).splitlines()[0]}"
                        log_event(_LOG, "experiment_refused", logging.WARNING, nodes=count, reason=str(error))
                        submissions.notice = f"{refused}; waiting for another number of nodes"
                        while len(submissions.members.within_reach()) == count:
                            await submissions.members.change(_LOOK_S)
                    else:
                        submissions.notice = ""
                        return
        except TimeoutError:
            reason = refused or self._waiting_for(submissions.members)
            raise NotEnoughNodes(f"gave up after {self.patience_s:g} s: {reason}") from None
        finally:
            reminding.cancel()

    async def _members(self, members: Members) -> int:
        if self.nodes is not None:
            return len(await members.gather(self.nodes, inf))
        return len(await members.settle(self.stable_s, inf))

    async def _remind(self, submissions: Submissions) -> None:
        """Say what is waited for, once, if it takes longer than anybody expects."""
        await asyncio.sleep(_REMIND_S)
        while True:
            words = self._waiting_for(submissions.members)
            if not submissions.notice:
                log_event(_LOG, "waiting", reason=words)
            if not submissions.notice or submissions.notice.startswith(_WAITING):
                submissions.notice = words
            await submissions.members.change(inf)

    def _waiting_for(self, members: Members) -> str:
        here = len(members.within_reach())
        wanted = f"{self.nodes} nodes" if self.nodes is not None else "nodes"
        return f"{_WAITING}{wanted}, {here} {'is' if here == 1 else 'are'} here: start more with `--scale node=N`"


async def serve(
    control: ControlPlane,
    first: FirstRun | None,
    out: Path,
    host: str,
    page_port: int | None,
    allowed_hosts: tuple[str, ...],
    health_port: int | None,
    security: Path | None,
    keep_nodes: bool,
) -> Ending | None:
    """Until told to stop or, if the first run has to come within its patience, until that is over; the run it ended
    with, if there was one.

    `out`: where run folders go; `page_port`: None for no live page; `allowed_hosts`: its names beside its address;
    `security`: where nodes find whom to believe, None without TLS; `keep_nodes`: whether nodes wait for the next
    orchestrator when this one leaves.
    """
    from orchestrator.live import LivePage  # and with it aiohttp, which no other verb needs

    submissions = Submissions(control, out)
    control.members.on_refusal = lambda member, reason: log_event(
        _LOG, "join_refused", logging.WARNING, member=member, reason=reason
    )
    refused = control.refused_requests
    refused.say = lambda counts: log_event(_LOG, "http_refused", logging.WARNING, **counts)
    page = LivePage(submissions, out, control.token, host, page_port or 0, allowed_hosts, refused)
    health = HealthServer(health_port)
    await control.open(ExperimentsService(control.token, submissions))
    try:
        await health.open()
        if page_port is not None:
            await page.open()
            submissions.page = page.address
        if security is not None:
            leave_authority(security, control.authority_certificate)
        await health.say(serving=True)
        log_event(
            _LOG,
            "listening",
            address=control.address,
            metrics=control.metrics_address,
            page=f"http://{host}:{page.port}" if page_port is not None else None,
            tls=control.is_secured,
        )
        return await _until_told(submissions, first, first is not None and first.patience_s is not None)
    finally:
        await page.close()
        await control.close("the orchestrator leaves", dismiss=not keep_nodes)
        await health.close()
        log_event(_LOG, "left")


async def _until_told(submissions: Submissions, first: FirstRun | None, leave: bool) -> Ending | None:
    works = (_told_to_stop(), _log_members(submissions.members), submissions.feed())
    tasks = [asyncio.create_task(work) for work in works]
    if first is not None:
        tasks.append(asyncio.create_task(_first_run(submissions, first, leave)))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        interrupted = submissions.cancel(0)
        return await submissions.ending() if interrupted or leave else None
    finally:
        for task in tasks:
            task.cancel()


async def _first_run(submissions: Submissions, first: FirstRun, leave: bool) -> None:
    await first.begin(submissions)
    await submissions.ending()
    if not leave:
        await asyncio.Event().wait()


async def _told_to_stop() -> None:
    """SIGINT or SIGTERM; a second one ends the process at once."""
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    await told.wait()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)


async def _log_members(members: Members) -> None:
    known: set[str] = set()
    while True:
        alive = {member.name: member.address for member in members.alive()}
        for name in sorted(alive.keys() - known):
            log_event(_LOG, "member_joined", member=name, address=alive[name], alive=len(alive))
        for name in sorted(known - alive.keys()):
            log_event(_LOG, "member_left", member=name, alive=len(alive))
        known = set(alive)
        await members.change(inf)
