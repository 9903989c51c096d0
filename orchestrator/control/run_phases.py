"""The life of a run, phase by phase (`run_phase` has their order). Every wait is bounded; a dead node ends no run."""

import asyncio
import time
from collections.abc import Callable

from contract.assignment import assign
from contract.rpc import control_pb2 as pb
from contract.tasks import cancelled, is_set
from orchestrator.control.abilities import needs, require_abilities, require_orders
from orchestrator.control.end_of_run import EndWatch, ending_of, judge_points
from orchestrator.control.link_check import VERIFY_S
from orchestrator.control.run_figures import state_of
from orchestrator.control.run_phase import Phase
from orchestrator.control.run_state import NetworkRunState
from orchestrator.errors import NotEnoughNodes
from orchestrator.results import Ending, Status
from orchestrator.results.events import EventWord

GATHER_S = 60.0
_PREPARE_S = 60.0
_ENDING_S = 15.0
_TICK_S = 0.25


async def live(run: NetworkRunState) -> Ending:
    """From gathering to the end; the folder has everything but the summary then."""
    started = time.perf_counter()
    try:
        _tell_watcher(run)
        for phase in (_gather, _prepare, _verify, _iterate):
            if run.end is None:
                await phase(run)
    except asyncio.CancelledError:
        run.cancel()
    finally:
        await _end(run)
    if run.fault is not None:
        raise run.fault
    return ending_of(run, time.perf_counter() - started)


async def _gather(run: NetworkRunState) -> None:
    count, needed = run.experiment.nodes, needs(run.experiment)
    gathering = asyncio.create_task(run.members.gather(count, GATHER_S, needed))
    gathering.add_done_callback(lambda _: run.changed.set())
    try:
        await _until(run, gathering.done, 2 * GATHER_S)
        members = gathering.result() if gathering.done() else []
    finally:
        gathering.cancel()
    if run.end is not None:
        return
    if len(members) < count:
        require_abilities(run.members.within_reach(), needed, count)
        raise NotEnoughNodes(
            f"the experiment has {count} nodes, but only {len(members)} joined within {GATHER_S:g} s: start more "
            "nodes, or make nodes smaller"
        )
    require_orders(run.plan, members)
    for former in run.members.all():
        former.last_index, former.refused, former.joins = None, 0, 0
    for index, member in enumerate(members):
        run.indices.take(index, member)


async def _prepare(run: NetworkRunState) -> None:
    run.enter(Phase.PREPARING)
    selection, ready, everybody = run.setting.selection(), run.nodes.ready, len(run.indices)
    contacts = [selection.contacts(index) for index in range(everybody)]
    for index, member in run.indices.taken():
        peers = map(run.indices.peer, contacts[index])
        assignment = assign(run.common, index, 0, peers, links=run.setting.links)
        member.tell(pb.ToNode(assignment=assignment))
        run.happened(EventWord.ASSIGNED, index, member.name)
    began = time.monotonic()
    while run.end is None and len(ready) < everybody == len(run.indices.alive()):
        left = max(began, run.deliveries.newest_at) + _PREPARE_S - time.monotonic()
        if left <= 0:
            break
        await _until(
            run, lambda: len(ready) >= everybody or len(run.indices.alive()) < everybody, min(left, _PREPARE_S)
        )
    if run.end is None and len(ready) < everybody:
        missing = sorted(set(range(everybody)) - ready)
        raise NotEnoughNodes(
            f"nodes {missing} were not ready within {_PREPARE_S:g} s, or died before the start: {run.where_to_look}"
        )


async def _verify(run: NetworkRunState) -> None:
    """Measure the links, before anybody uses them."""
    if (verifying := run.links.begin()) is not None:
        run.enter(Phase.VERIFYING)
        verifying.add_done_callback(lambda _: run.changed.set())
        everybody = len(run.indices)
        try:
            await _until(run, lambda: verifying.done() or len(run.indices.alive()) < everybody, VERIFY_S)
            if verifying.done():
                verifying.result()
        finally:
            verifying.cancel()
        if run.end is None and len(run.indices.alive()) < everybody:
            raise NotEnoughNodes(f"a node died while the links were measured: {run.where_to_look}")
    if (end := run.links.end()) is not None:
        run.stop(*end, iteration=0)


async def _iterate(run: NetworkRunState) -> None:
    run.enter(Phase.RUNNING)
    run.began = time.monotonic()
    watch = EndWatch(run)
    run.judging = asyncio.create_task(judge_points(run))
    for _, member in run.indices.taken():
        member.tell(pb.ToNode(start=pb.Start(run=run.number)))
    while run.end is None:
        await _until(run, lambda: False, _TICK_S)
        watch.look()
        _tell_watcher(run)


async def _end(run: NetworkRunState) -> None:
    run.enter(Phase.ENDING)
    last = run.setting.stop.last_iteration
    at = run.end.iteration if run.end and run.end.status is Status.FINISHED else last
    for member in run.indices.living():
        member.tell(pb.ToNode(stop=pb.Stop(run=run.number, iteration=at)))
    if run.began is not None:
        finished = run.nodes.finished
        await _wait(run, lambda: run.indices.alive() - run.indices.mute() <= finished, _ENDING_S)
    if run.judging is not None:
        emptied = asyncio.create_task(run.points.join())
        await asyncio.wait((run.judging, emptied), timeout=_ENDING_S, return_when=asyncio.FIRST_COMPLETED)
        await cancelled(run.judging, emptied)
    run.indices.leave()
    _tell_watcher(run)
    run.enter(Phase.IDLE if run.setting.store is None else Phase.EVALUATING)


async def _until(run: NetworkRunState, condition: Callable[[], object], seconds: float) -> None:
    """Wait for a condition that only messages can make true, or for the end of the run, at most so long."""
    await _wait(run, lambda: run.end is not None or condition(), seconds)


async def _wait(run: NetworkRunState, condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and (left := deadline - time.monotonic()) > 0:
        run.changed.clear()
        if not await is_set(run.changed, min(left, _TICK_S)) and run.phase is not Phase.RUNNING:
            _tell_watcher(run)


def _tell_watcher(run: NetworkRunState) -> None:
    run.watcher.state(state_of(run))
    with run.surviving():
        run.folder.flush()
