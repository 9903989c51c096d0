"""When a run ends although nobody says so: by a point of its curve, by the clock, because all are done or all is lost.

And how it ended: status, health, whether its bits are those of the simulator.
"""

import asyncio
import time
from dataclasses import replace

from orchestrator.control.members import SILENT_S
from orchestrator.control.node_reports import UnmeasuredPoint
from orchestrator.control.run_problems import symptoms_of
from orchestrator.control.run_state import NetworkRunState, RunEnd
from orchestrator.experiment.faults import FaultOutcomes
from orchestrator.experiment.faults.happened import Reach, on_network
from orchestrator.experiment.resolve import HARD_STOP_S
from orchestrator.results import Ending, Status
from orchestrator.results.events import EventWord
from orchestrator.results.health import State, judge
from pame.errors import Diverged
from pame.evaluate import Measured
from pame.observe import StoredModels

_EXAMINE_S = 1.0


class EndWatch:
    """Looks, again and again while a run is running, at what no message tells."""

    def __init__(self, run: NetworkRunState) -> None:
        self._run = run
        self._looked_at = self._alive_at = time.monotonic()
        self._examined_at = 0.0

    def look(self) -> None:
        """Stop the run if its time is over, everybody is done, or nobody is there."""
        run, now = self._run, time.monotonic()
        stop = run.setting.stop
        last = stop.last_iteration
        self._notice_silence(now)
        run.nodes.done |= run.indices.at_least(last)
        seconds = HARD_STOP_S if stop.seconds is None else stop.seconds
        alive, done = run.indices.alive(), run.nodes.done
        if alive:
            self._alive_at = now
        heard = alive - run.nodes.silent
        if run.seconds() > seconds:
            run.stop(Status.FINISHED, f"{seconds:g} second{' is' if seconds == 1 else 's are'} over")
        elif now - self._alive_at > SILENT_S:
            run.stop(Status.FAILED, f"every node died: {run.where_to_look}")
        elif run.ends_with_the_median and 2 * len(done) >= len(run.indices):
            run.stop(Status.FINISHED, f"the median node did {last} iterations", last)
        elif heard and heard <= done and run.collection.by_time:
            run.stop(Status.FINISHED, f"every live node did {last} iterations", last)
        self._examine(now)

    def _examine(self, now: float) -> None:
        """A run in which nobody is heard tells nothing, however long it goes on."""
        if now - self._examined_at < _EXAMINE_S:
            return
        self._examined_at = now
        health = self._run.health = judge(symptoms_of(self._run, is_over=False))
        if health.state is State.BROKEN:
            self._run.stop(Status.FAILED, health.reason)

    def _notice_silence(self, now: float) -> None:
        run = self._run
        if now - self._looked_at > SILENT_S / 2:  # this process itself was stopped, or too busy to listen
            run.indices.hear_everybody(now)
        self._looked_at = now
        mute, silent = run.indices.mute(), run.nodes.silent
        for index in sorted(mute - silent):
            run.disturbances.silences += 1
            run.collection.has_faults()
            run.happened(EventWord.SILENT, index, f"nothing heard for {SILENT_S:g} s")
        for index in sorted((silent - mute) & run.indices.alive()):
            run.happened(EventWord.HEARD_AGAIN, index, "")
        run.nodes.silent = mute


async def judge_points(run: NetworkRunState) -> None:
    """As they come, up to the last one; in a thread: models can be large, and the nodes must be heard meanwhile."""
    while True:
        point = await run.points.get()
        measured = await asyncio.to_thread(run.collection.measure, point)
        if _ends_with(run, point, measured):
            return
        run.points.task_done()


def _ends_with(run: NetworkRunState, point: UnmeasuredPoint, measured: Measured | StoredModels) -> bool:
    with run.surviving():
        try:
            reason = run.collection.judge(point, measured)
        except Diverged as error:
            run.stop(Status.DIVERGED, str(error), point.iteration)
            return True
        if reason is None:
            return False
        run.stop(Status.FINISHED, reason, point.iteration)
    return True


def ending_of(run: NetworkRunState, spent_s: float) -> Ending:
    end = run.end or RunEnd(Status.FAILED, "the run ended without a reason", 0)
    if run.began is not None or run.unheard:
        run.health = judge(symptoms_of(run, is_over=True, is_failed=end.status is Status.FAILED))
        if run.health.state is State.BROKEN and end.status is Status.FINISHED:
            end = replace(end, status=Status.FAILED, reason=run.health.reason)
    faults = _fault_outcomes(run)
    return Ending(end.status, end.reason, end.iteration, run.took, spent_s, _is_exact(run, end), run.health, faults)


def _fault_outcomes(run: NetworkRunState) -> FaultOutcomes | None:
    if not run.plan or run.took is None:
        return None
    return on_network(run.plan, run.told, Reach(run.took, run.collection.iterations))


def _is_exact(run: NetworkRunState, end: RunEnd) -> bool:
    iterations = [k for k, _ in run.collection.results.values()]
    return (
        end.status is Status.FINISHED
        and run.setting.exchange.waits
        and not run.disturbances
        and not run.other_builds
        and run.totals.account().clean
        and run.totals.figures().clean
        and not run.refused.counts
        and iterations == [end.iteration] * len(run.indices)
    )
