"""Members that come and go while a run is there."""

from contract.rpc import control_pb2 as pb
from orchestrator.control.members import Member
from orchestrator.control.run_phase import Phase
from orchestrator.control.run_problems import is_killed
from orchestrator.control.run_state import NetworkRunState
from orchestrator.results.events import EventWord


def member_joined(run: NetworkRunState, member: Member, join: pb.Join) -> None:
    """Back after a break, or in the place of a dead one, or for the next run."""
    own = run.indices.held_by(member.name)
    if own is not None and join.run == run.number and join.incarnation == run.indices.incarnation(own):
        _reconnect(run, own, member)
    elif run.phase is Phase.RUNNING and run.end is None:
        # a new process of a name means that the old one is gone, heard of or not
        index = run.indices.first_free() if own is None else own
        if index is not None:
            _restart(run, index, member)


def member_left(run: NetworkRunState, member: Member) -> None:
    index = member.index
    if index is None or not run.indices.holds(member) or run.is_ending:
        return
    run.collection.has_faults()
    run.totals.died(index)
    is_disturbed = run.rounds.is_disturbed(run.seconds(), run.collection.iterations[index])
    if not is_killed(run.plan, index, is_disturbed):
        run.nodes.gone.add(index)
    if index in run.nodes.leaving:
        run.disturbances.departures += 1
        run.happened(EventWord.LEFT, index, f"{member.name} said goodbye")
    else:
        run.disturbances.deaths += 1
        run.happened(EventWord.DIED, index, f"no connection to {member.name} any more")
    run.changed.set()


def _reconnect(run: NetworkRunState, index: int, member: Member) -> None:
    """The same process over a new stream, which may be there before the old one is missed."""
    run.disturbances.deaths -= index not in run.indices.alive()
    run.nodes.gone.discard(index)
    run.indices.take(index, member)
    run.collection.has_faults()  # what was under way may be lost
    run.disturbances.reconnections += 1
    run.history.broke((index, member.incarnation))
    run.happened(EventWord.BACK, index, "the connection was broken, the node went on")


def _restart(run: NetworkRunState, index: int, member: Member) -> None:
    """A new incarnation takes the place of a dead node, where its neighbours are."""
    run.disturbances.restarts += 1
    for former in (run.nodes.ready, run.nodes.done, run.nodes.leaving):
        former.discard(index)
    first = run.rejoins.begin(index, member, run.seconds())
    run.history.begins((index, member.incarnation), first)
    run.happened(EventWord.RESTARTED, index, f"{member.name}, from iteration {first}, {run.setting.restart_state}")
