import asyncio

from contract.rpc import experiments_pb2 as pb
from orchestrator.control import NetworkState
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.run_phase import Phase
from orchestrator.results import Ending, Status
from pame.observe import Evaluation
from tests.orchestrator.control.harness import experiment_of, kinds

END = Ending(Status.FINISHED, "done", 30, 1.5, 2.0, exact=True)


def state(phase: Phase) -> NetworkState:
    return NetworkState(phase, 3, 3, 3, 1, 2, 3, 100, 0, 0, 0.5)


def point(iteration: int) -> Evaluation:
    return Evaluation("iteration", iteration, 0.1, 10, 0.5, 0.25, None, {"test_mse": 1.0})


async def rest(broadcast: Broadcast) -> list[pb.Event]:
    return [event async for event in broadcast.watch()]


async def test_somebody_who_comes_late_gets_the_phase_the_points_so_far_and_the_rest() -> None:
    broadcast = Broadcast(7, experiment_of(), "folder")
    for phase in (Phase.GATHERING, Phase.RUNNING):
        broadcast.state(state(phase))
    broadcast.evaluated(point(5))
    watching = asyncio.create_task(rest(broadcast))
    await asyncio.sleep(0)
    broadcast.evaluated(point(10))
    broadcast.ended(END)
    events = await watching
    assert kinds(events) == ["phase", "point", "network", "point", "ended"]
    assert events[0].phase.phase == "running"
    assert [event.point.iteration for event in events if event.HasField("point")] == [5, 10]
    assert not events[1].point.HasField("coverage")
    assert (events[-1].ended.status, events[-1].ended.iterations, events[-1].ended.exact) == ("finished", 30, True)


async def test_a_slow_watcher_loses_looks_at_the_network_first_and_never_the_end() -> None:
    broadcast = Broadcast(7, experiment_of(), "folder")
    watching = broadcast.watch()
    broadcast.state(state(Phase.GATHERING))
    assert (await anext(watching)).HasField("phase")  # and then it takes nothing for a long time
    for iteration in range(600):
        broadcast.evaluated(point(iteration))
        broadcast.state(state(Phase.RUNNING))
    broadcast.ended(END)
    events = [event async for event in watching]
    told = kinds(events)
    assert told.count("point") == 600
    assert told.count("phase") == 1
    assert told[-1] == "ended"
    assert told.count("network") < 500
    assert len(told) <= 1002  # the network as it was at first, and 1000 that waited
