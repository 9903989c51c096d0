"""What a node may say during a run, checked before anything is counted.

    fields      each has a range (`field_ranges`)
    links       lead to or from the node, and to one of its contacts, each once
    iterations  of this run; `free` nodes go on in overtime

A message passes, or `ControlRefused` says why not.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from google.protobuf.message import DecodeError

from contract.counter_reports import LAYOUT
from contract.counters import InCounters, NodeCounters, OutCounters
from contract.data_delivery import shard_source
from contract.fault_reports import concerns, planned_moment
from contract.rpc import control_pb2 as pb
from contract.rpc import refusal_pb2
from orchestrator.control.field_ranges import ControlRefused, check_counted, check_fields
from pame.fault_effects import FaultEvent, Plan, for_nodes
from pame.links import PROPERTIES
from pame.resolved_run import ResolvedRun

MOST_OVERTIME = 2**31
_MOST_RECEIVED = 2**20
"""In one iteration: some algorithms take several messages of a sender at once."""
_PROPERTIES = frozenset({"cut", *(one.name for one in PROPERTIES)})
_REFUSED = [entry.name for entry in LAYOUT[InCounters][0]].index("refused")
_REFUSALS = frozenset(refusal_pb2.Refusal.values()) - {refusal_pb2.REFUSAL_UNSPECIFIED}

Moment = tuple[int, bool, bool, float]
"""Number of the fault, whether something of it begins, whether by iteration, and when."""


class NodeFacts:
    """What the orchestrator knows of the nodes of a run by itself."""

    def __init__(self, setting: ResolvedRun, snapshot_every: int) -> None:
        source = shard_source(setting.problem)
        self.nodes = setting.topology.nodes
        self.n = setting.problem.n
        self.iterations = setting.stop.last_iteration
        self.last = self.iterations if setting.exchange.waits else MOST_OVERTIME
        """The highest iteration that a node can be at."""
        self.snapshot_every = snapshot_every
        self.contacts = cache(lambda index: frozenset(setting.contacts(index)))
        """Of each node."""
        self.data_bytes = [source.format(index).bytes for index in range(self.nodes)] if source else ()
        """Of each node's samples; empty without a data set."""
        self.planned = planned_moments(setting.plan)
        """What begins or ends when, of what nodes carry out; it changes with faults by hand."""


def planned_moments(plan: Plan) -> Mapping[Moment, Sequence[FaultEvent]]:
    """As the nodes that carry it out will tell of it; inf: it ends with the run."""
    moments: dict[Moment, list[FaultEvent]] = {}
    for event in for_nodes(plan):
        for begins in (True, False):
            by_iteration = event.window.unit == "iterations"
            moment = event.number, begins, by_iteration, planned_moment(event.window, begins)
            moments.setdefault(moment, []).append(event)
    return moments


def decoded(data: bytes) -> pb.FromNode:
    """The message; an empty one, which `check` refuses, if these bytes are none."""
    try:
        return pb.FromNode.FromString(data)
    except DecodeError:
        return pb.FromNode()


def is_of(message: pb.FromNode, run: int) -> bool:
    """Whether it belongs to this run: nodes may still have something to say about a former one."""
    kind = message.WhichOneof("kind")
    content = getattr(message, kind) if kind else None
    return bool(getattr(content, "run", run) == run)


def check(message: pb.FromNode, index: int, has_started: bool, facts: NodeFacts) -> None:
    """ControlRefused if node `index` cannot mean this; sentences in it are cleaned."""
    match message.WhichOneof("kind"):
        case None:
            raise ControlRefused("undecodable", "bytes that are no message")
        case "join":
            raise ControlRefused("unexpected", "a second join on the same stream")
        case "ready":
            check_fields(message.ready)
            _links(message.ready.links, index, facts)
        case "report":
            check_fields(message.report)
            _report(message.report, index, has_started, facts)
        case "snapshot":
            _snapshot(message.snapshot, has_started, facts)
        case "done":
            if not has_started:
                raise ControlRefused("unexpected", "done before the start")
        case "fault":
            check_fields(message.fault)
            _fault(message.fault, index, facts)
        case "moved":
            _moved(message.moved, facts)
        case "data_wanted":
            _data(message.data_wanted, index, facts)
        case "heartbeat":
            _iteration("heartbeat", message.heartbeat.iteration, facts.last)
        case "finished":
            pass
        case kind:
            check_fields(getattr(message, kind))


def _links(links: Iterable[pb.RealisedLink], index: int, facts: NodeFacts) -> None:
    contacts, seen = facts.contacts(index), set()
    for link in links:
        ends = link.sender, link.receiver
        other = ends[1] if ends[0] == index else ends[0]
        if index not in ends or other not in contacts:
            raise ControlRefused("unknown_link", f"node {index} has no link from {ends[0]} to {ends[1]}")
        if link.property not in _PROPERTIES:
            raise ControlRefused("bad_text", f"links have no {link.property!r}")
        if (link.property == "rate" and not link.asked) or (link.property in ("loss", "cut") and link.asked > 1):
            raise ControlRefused("bad_number", f"a {link.property} of {link.asked:g}")
        if (*ends, link.property) in seen:
            raise ControlRefused("twice", f"the {link.property} of link {ends[0]} to {ends[1]} comes twice")
        seen.add((*ends, link.property))


def _report(report: pb.Report, index: int, has_started: bool, facts: NodeFacts) -> None:
    if report.records and not has_started:
        raise ControlRefused("unexpected", "records before the start")
    before = -1
    for record in report.records:
        _iteration("record", record.iteration, facts.last - 1)
        if record.iteration <= before:
            raise ControlRefused("bad_iteration", f"a record of iteration {record.iteration} after that of {before}")
        before = record.iteration
        if record.wanted > facts.nodes or record.received > _MOST_RECEIVED:
            counts = f"{record.wanted} messages wanted and {record.received} received in one iteration"
            raise ControlRefused("bad_number", f"{counts}, and there are {facts.nodes} nodes")
    if report.HasField("totals"):
        check_counted(report.totals, NodeCounters)
    for link in report.out:
        check_counted(link, OutCounters)
    for link in report.into:
        check_counted(link, InCounters)
        _refused_by(link)
    contacts = facts.contacts(index)
    for name, links in (("receiver", report.out), ("sender", report.into)):
        others = [link.peer for link in links]
        if len(set(others)) < len(others):
            raise ControlRefused("twice", f"a {name} comes twice in one report")
        if strangers := [other for other in others if other not in contacts]:
            raise ControlRefused("unknown_link", f"{name} {strangers[0]} is no contact of node {index}")


def _refused_by(link: pb.Counted) -> None:
    refused = link.whole[_REFUSED]
    reasons = [count.refusal for count in link.refused_by]
    if unknown := [reason for reason in reasons if reason not in _REFUSALS]:
        raise ControlRefused("bad_number", f"{unknown[0]} is no reason to refuse a message")
    if len(set(reasons)) < len(reasons):
        raise ControlRefused("twice", "a reason to refuse messages comes twice for one sender")
    if (total := sum(count.messages for count in link.refused_by)) != refused:
        raise ControlRefused("bad_number", f"{refused} refused messages, and {total} by reason")


def _snapshot(chunk: pb.SnapshotChunk, has_started: bool, facts: NodeFacts) -> None:
    size, rest = divmod(len(chunk.values), 8)
    if rest or not size or chunk.offset + size > facts.n:
        raise ControlRefused(
            "bad_snapshot", f"a piece of {len(chunk.values)} bytes at {chunk.offset} of {facts.n} numbers"
        )
    _iteration("snapshot", chunk.iteration, facts.iterations)
    is_due = chunk.iteration % facts.snapshot_every == 0 or chunk.iteration == facts.iterations
    if not chunk.result and not is_due:
        raise ControlRefused("bad_iteration", f"a snapshot at iteration {chunk.iteration}, where none is due")
    if not chunk.result and not has_started:
        raise ControlRefused("unexpected", "a snapshot before the start")


def _fault(report: pb.FaultReport, index: int, facts: NodeFacts) -> None:
    events = facts.planned.get((report.number, report.begins, report.by_iteration, report.planned), ())
    if not any(concerns(event, index) for event in events):
        what = f"nothing of fault {report.number} {'begins' if report.begins else 'ends'} at node {index}"
        unit = "iteration" if report.by_iteration else "second"
        raise ControlRefused("unknown_fault", f"{what} at {unit} {report.planned:g} by the plan")
    _iteration("fault", report.iteration, facts.last)
    _links(report.held, index, facts)


def _moved(moved: pb.Moved, facts: NodeFacts) -> None:
    if len(moved.neighbours) > facts.nodes:
        raise ControlRefused("too_many", f"{len(moved.neighbours)} neighbours of {facts.nodes} nodes")
    if any(other >= facts.nodes for other in moved.neighbours):
        raise ControlRefused("unknown_link", f"there are only {facts.nodes} nodes")


def _data(wanted: pb.DataWanted, index: int, facts: NodeFacts) -> None:
    size = facts.data_bytes[index] if facts.data_bytes else 0
    if wanted.offset >= size:
        raise ControlRefused("bad_number", f"samples from byte {wanted.offset} on, and node {index} has {size} bytes")


def _iteration(what: str, iteration: int, last: int) -> None:
    if iteration > last:
        raise ControlRefused("bad_iteration", f"{what} of iteration {iteration}, and the last is {last}")
