"""What a node says during a run: checked, then given to the handler of its kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from contract.counter_reports import counters_of
from contract.rpc import control_pb2 as pb
from orchestrator.control.fault_events import fault_event
from orchestrator.control.field_ranges import ControlRefused
from orchestrator.control.members import Member
from orchestrator.control.node_messages import check, is_of
from orchestrator.control.run_state import NetworkRunState
from orchestrator.results import Status


@dataclass(frozen=True, slots=True)
class Speaker:
    """The node that says something, and who it is now."""

    index: int
    member: Member

    @property
    def who(self) -> tuple[int, int]:
        return self.index, self.member.incarnation


def message_heard(run: NetworkRunState | None, member: Member, message: pb.FromNode) -> None:
    """A member says something; what is of a former run or makes no sense changes nothing. `run`: the one under way."""
    index, kind = member.index, message.WhichOneof("kind")
    if run is None or index is None or not run.indices.holds(member):
        member.iteration = message.heartbeat.iteration if kind == "heartbeat" else member.iteration
        member.refused += kind is None
        return
    if not is_of(message, run.number) or (kind == "heartbeat" and index not in run.nodes.ready):
        return
    speaker = Speaker(index, member)
    try:
        check(message, index, run.began is not None, run.facts)
        if not run.history.is_new(speaker.who, message, len(run.plan)):
            return
    except ControlRefused as refused:
        member.refused += 1
        run.refused.add(index, refused)
        return
    if kind is not None:  # `check` has refused a message without
        with run.surviving():
            HANDLERS[kind](run, speaker, message)
    run.changed.set()


def _heartbeat(_: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    speaker.member.iteration = message.heartbeat.iteration


def _ready(run: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    run.nodes.ready.add(speaker.index)
    speaker.member.iteration = 0
    run.links.ready(speaker.index, message.ready)
    run.lossless[speaker.index] = message.ready.lossless
    if message.ready.torch_fingerprint != run.torch_fingerprint:
        run.other_builds.add(speaker.index)
    run.rejoins.ready(speaker.index)


def _data_wanted(run: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    run.deliveries.send(speaker.index, message.data_wanted.offset, speaker.member)


def _report(run: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    index, report = speaker.index, message.report
    run.collection.report(index, report.records)
    if report.HasField("totals"):
        counted = counters_of(report)
        run.totals.heard(speaker.who, counted)
        run.gaps.heard(speaker.who, counted, run.seconds(), run.collection.iterations[index])


def _snapshot(run: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    alive = run.indices.alive()
    for point in run.collection.snapshot(speaker.index, message.snapshot, run.seconds(), alive):
        run.points.put_nowait(point)


def _done(run: NetworkRunState, speaker: Speaker, _: pb.FromNode) -> None:
    run.nodes.done.add(speaker.index)


def _finished(run: NetworkRunState, speaker: Speaker, _: pb.FromNode) -> None:
    run.nodes.finished.add(speaker.index)
    run.totals.finished(speaker.index)


def _failure(run: NetworkRunState, _: Speaker, message: pb.FromNode) -> None:
    failure = message.failure
    if failure.diverged:
        run.stop(Status.DIVERGED, failure.reason)
    elif failure.unheard:
        run.unheard = run.unheard or failure.reason
        run.stop(Status.FAILED, failure.reason)
    else:
        run.stop(Status.FAILED, f"{failure.reason}; {run.where_to_look}")


def _fault(run: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    run.fired.heard(speaker.index, message.fault)
    run.record(fault_event(speaker.index, message.fault))


def _moved(run: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    for other in message.moved.neighbours:
        run.rejoins.known(other, speaker.index)


def _probed(run: NetworkRunState, speaker: Speaker, message: pb.FromNode) -> None:
    run.links.probed(speaker.index, message.probed)


def _goodbye(run: NetworkRunState, speaker: Speaker, _: pb.FromNode) -> None:
    run.nodes.leaving.add(speaker.index)


HANDLERS: Mapping[str, Callable[[NetworkRunState, Speaker, pb.FromNode], None]] = {
    "heartbeat": _heartbeat,
    "ready": _ready,
    "report": _report,
    "snapshot": _snapshot,
    "done": _done,
    "finished": _finished,
    "failure": _failure,
    "fault": _fault,
    "moved": _moved,
    "probed": _probed,
    "goodbye": _goodbye,
    "data_wanted": _data_wanted,
}
"""Every kind of message but `join`, which only begins a stream."""
