"""An orchestrator as a service: nodes and clients come and go, and it stays until it is told to leave."""

import asyncio
import json
import signal
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from orchestrator.experiment import Experiment, ExperimentError, load
from orchestrator.network import Busy, Control, Desk, ExperimentsService
from orchestrator.network.members import Members
from orchestrator.runs import Ending
from pame.errors import PameError


def log(event: str, **fields: object) -> None:
    """One event, one line of JSON on standard error."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json.dumps({"time": now, "event": event, **fields}), file=sys.stderr, flush=True)


@dataclass(frozen=True)
class FirstRun:
    """The experiment that begins by itself, when `nodes` have joined or nobody has come or gone for `stable_s`."""

    file: Path
    nodes: int | None
    stable_s: float

    def experiment(self, nodes: int | None) -> Experiment:
        """With so many nodes, whatever the file says."""
        variants = load(self.file, [] if nodes is None else [f"nodes={nodes}"])
        if len(variants) > 1:
            sweep = ", ".join(variants[0].values)
            raise ExperimentError([f"{self.file}: a sweep (over {sweep}) is no single run: give one experiment"])
        return variants[0].experiment

    async def begin(self, desk: Desk) -> None:
        """Wait for the nodes, then begin; if so many nodes do not go with the experiment, wait for another number."""
        while True:
            count = await self._members(desk.members)
            try:
                await desk.submit(self.experiment(count), self.file.parent)
            except Busy:
                await desk.idle()
            except PameError as error:
                log("experiment_refused", nodes=count, reason=str(error))
                await desk.members.change(inf)
            else:
                return

    async def _members(self, members: Members) -> int:
        if self.nodes is not None:
            return len(await members.gather(self.nodes, inf))
        return len(await members.settle(self.stable_s, inf))


async def serve(control: Control, out: Path, first: FirstRun | None, leave: bool) -> Ending | None:
    """Until told to stop or, with `leave`, until the first run is over; the run it ended with, if there was one."""
    desk = Desk(control, out, log)
    await control.open(ExperimentsService(control.token, desk))
    log("listening", address=control.address, metrics=control.metrics_address)
    tasks = [asyncio.create_task(_told_to_stop()), asyncio.create_task(_log_members(control.members))]
    if first is not None:
        tasks.append(asyncio.create_task(_first_run(desk, first, leave)))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        interrupted = desk.cancel(0)
        return await desk.ending() if interrupted or leave else None
    finally:
        for task in tasks:
            task.cancel()
        await control.close("the orchestrator leaves")
        log("left")


async def _first_run(desk: Desk, first: FirstRun, leave: bool) -> None:
    await first.begin(desk)
    await desk.ending()
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
            log("member_joined", member=name, address=alive[name], alive=len(alive))
        for name in sorted(known - alive.keys()):
            log("member_left", member=name, alive=len(alive))
        known = set(alive)
        await members.change(inf)
