"""Whatever a node says is a message in its ranges, or refused; what honest nodes say never is."""

from copy import copy
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.counter_reports import totals_message
from contract.counters import TABLE, CounterEntry, InCounters, NodeCounters, OutCounters, SocketCounts, totalled
from contract.rpc import control_pb2 as pb
from orchestrator.control.field_ranges import ControlRefused
from orchestrator.control.node_history import NodeHistory
from orchestrator.control.node_messages import NodeFacts, check, decoded, is_of
from orchestrator.experiment.resolve import make_network_setting
from pame.resolved_run import ResolvedRun
from tests.orchestrator.control import builders as honest
from tests.orchestrator.control.harness import experiment_of

RUN = 77
FAULTS = [
    {"kind": "link-down", "links": "all", "at": "1s"},
    {"kind": "pause", "nodes": [1], "at": {"iteration": 5}, "for": "1s"},
]


def setting(**changes: Any) -> ResolvedRun:
    experiment = experiment_of(nodes=5, faults=FAULTS, evaluate={"every": 5}, **changes)
    return make_network_setting(experiment, Path())


SETTING = setting()
FACTS = NodeFacts(SETTING, snapshot_every=5)


def verdict(message: pb.FromNode, node: int = 1, facts: NodeFacts = FACTS, has_started: bool = True) -> str:
    """The reason of a refusal; empty: it is taken."""
    try:
        check(decoded(message.SerializeToString()), node, has_started, facts)
    except ControlRefused as refused:
        return refused.reason if str(refused).isprintable() else "not fit to be shown"
    return ""


@pytest.mark.parametrize("node", range(5))
def test_an_honest_node_is_never_refused(node: int) -> None:
    for message in honest.everything(RUN, node, SETTING):
        assert verdict(message, node) == "", message


def test_an_honest_node_in_overtime_is_not_refused() -> None:
    free = NodeFacts(setting(exchange={"mode": "free"}), snapshot_every=5)
    late = records(29, 30, 900)
    beat = pb.FromNode(heartbeat=pb.Heartbeat(iteration=901))
    assert (verdict(late, facts=free), verdict(beat, facts=free)) == ("", "")
    assert (verdict(late), verdict(beat)) == ("bad_iteration", "bad_iteration")


def test_a_node_that_leaves_before_the_start_may_say_how_far_it_came() -> None:
    parting = [*honest.snapshots(RUN, 0, 20, result=True), honest.totals(RUN, 1, SETTING)]
    assert [verdict(message, has_started=False) for message in parting] == ["", "", ""]
    early = (honest.snapshots(RUN, 0, 20)[0], records(0), pb.FromNode(done=pb.Done(run=RUN)))
    assert [verdict(message, has_started=False) for message in early] == ["unexpected"] * 3


def counted(**what: Any) -> pb.FromNode:
    return pb.FromNode(report=totals_message(NodeCounters(run=RUN, **what)))


def report(**out: Any) -> pb.FromNode:
    return counted(out={2: OutCounters(**out)})


def with_numbers(**numbers: list[float]) -> pb.FromNode:
    """A report in which a link has these numbers more."""
    message = report()
    for name, more in numbers.items():
        getattr(message.report.out[0], name).extend(more)
    return message


def with_link_twice() -> pb.FromNode:
    message = report()
    message.report.out.append(message.report.out[0])
    return message


def records(*iterations: int, size: int = 400) -> pb.FromNode:
    made = [honest.record(1, k) for k in iterations]
    for one in made:
        one.bytes = size
    return pb.FromNode(report=pb.Report(run=RUN, records=made))


def ready(sender: int, receiver: int, what: str) -> pb.FromNode:
    link = pb.RealisedLink(sender=sender, receiver=receiver, property=what)
    return pb.FromNode(ready=pb.Ready(run=RUN, links=[link]))


def arrivals(*moments: int) -> pb.FromNode:
    return pb.FromNode(probed=pb.Probed(run=RUN, datagrams=pb.Sample(arrival_ns=moments)))


def fault(**changes: Any) -> pb.FromNode:
    made = pb.FaultReport(run=RUN, number=0, begins=True, planned=1.0, seconds=1.0, mechanism="netem")
    for name, value in changes.items():
        setattr(made, name, value)
    return pb.FromNode(fault=made)


def refusing(refused: int, *counts: tuple[int, int]) -> pb.FromNode:
    """A report of messages of node 2 that were refused: in all, and by the number of their reason."""
    message = counted(into={2: InCounters(refused=refused)})
    for number, times in counts:
        message.report.into[0].refused_by.add(refusal=number, messages=times)
    return message


def of_round(**counts: int) -> pb.FromNode:
    made = honest.record(1, 3)
    for name, value in counts.items():
        setattr(made, name, value)
    return pb.FromNode(report=pb.Report(run=RUN, records=[made]))


def pause(**changes: Any) -> pb.FromNode:
    """Of node 1, when it begins iteration 5."""
    return fault(**({"number": 1, "planned": 5.0, "by_iteration": True} | changes))


def chunk(size: int = 8, **more: Any) -> pb.FromNode:
    return pb.FromNode(snapshot=pb.SnapshotChunk(run=RUN, values=bytes(size), **more))


LIES = {
    "counts beyond 64 bits in all": (report(sent=2**64 - 1), "bad_number"),
    "bytes beyond what a run can hold": (report(values_bytes=2**48 + 1), "bad_number"),
    "a round trip that is no number": (report(round_trips_s=nan), "bad_number"),
    "a round trip before its time": (report(round_trips_s=-1.0), "bad_number"),
    "sockets beyond 64 bits": (report(sockets=SocketCounts(bytes_sent=2**63)), "bad_number"),
    "sockets with a number too many": (with_numbers(sockets=[0] * 8), "bad_number"),
    "a counter that is in no table": (with_numbers(whole=[0]), "bad_number"),
    "a time that is in no table": (with_numbers(seconds=[0.0]), "bad_number"),
    "no counters at all": (pb.FromNode(report=pb.Report(run=RUN, out=[pb.Counted(peer=2)])), "bad_number"),
    "a peer that is suspect twice": (counted(into={2: InCounters(suspect=2)}), "bad_number"),
    "a link to nobody": (counted(out={4: OutCounters()}), "unknown_link"),
    "a link to itself": (counted(into={1: InCounters()}), "unknown_link"),
    "a link twice": (with_link_twice(), "twice"),
    "CPU time without end": (counted(cpu_s=inf), "bad_number"),
    "records in disorder": (records(3, 3), "bad_iteration"),
    "a record of the future": (records(30), "bad_iteration"),
    "a fault at no time": (fault(seconds=nan), "bad_number"),
    "a fault at the end of time": (fault(seconds=inf), "bad_number"),
    "a fault that took no number of seconds": (fault(took=nan), "bad_number"),
    "a fault of nobody": (fault(number=9), "unknown_fault"),
    "a fault that is planned for no time": (fault(planned=nan), "bad_number"),
    "a fault that is planned for another time": (fault(planned=3.0), "unknown_fault"),
    "a fault by seconds that goes by iterations": (fault(by_iteration=True), "unknown_fault"),
    "a fault that ends when it begins": (fault(begins=False), "unknown_fault"),
    "a fault that begins when it ends": (fault(planned=inf), "unknown_fault"),
    "a pause by iterations that goes by seconds": (pause(by_iteration=False), "unknown_fault"),
    "messages refused for no reason": (refusing(1, (0, 1)), "bad_number"),
    "messages refused for a reason that nobody knows": (refusing(1, (99, 1)), "bad_number"),
    "messages refused for one reason twice": (refusing(2, (20, 1), (20, 1)), "twice"),
    "more messages refused than there are by reason": (refusing(3, (20, 1), (24, 1)), "bad_number"),
    "more messages refused by reason than there are": (refusing(0, (20, 1)), "bad_number"),
    "more messages wanted than there are nodes": (of_round(wanted=6), "bad_number"),
    "more messages received than a round can take": (of_round(received=2**20 + 1), "bad_number"),
    "a snapshot of seven bytes": (chunk(7), "bad_snapshot"),
    "a snapshot of nothing": (chunk(0), "bad_snapshot"),
    "a snapshot that is too large": (chunk(8 * 21), "bad_snapshot"),
    "a snapshot beyond the end": (chunk(offset=2**32 - 1), "bad_snapshot"),
    "a snapshot of the future": (chunk(iteration=35), "bad_iteration"),
    "a snapshot that nobody asked for": (chunk(iteration=7), "bad_iteration"),
    "a result of the future": (chunk(iteration=31, result=True), "bad_iteration"),
    "a property that links do not have": (ready(1, 2, "x"), "bad_text"),
    "a link of others": (ready(3, 2, "loss"), "unknown_link"),
    "a rate of zero": (ready(1, 2, "rate"), "bad_number"),
    "a boot with a line end": (pb.FromNode(ready=pb.Ready(run=RUN, boot="a\nb")), "bad_text"),
    "a boot without end": (pb.FromNode(ready=pb.Ready(run=RUN, boot="x" * 10**6)), "bad_text"),
    "too many arrivals": (arrivals(*[1] * 100_001), "too_many"),
    "an arrival beyond all clocks": (arrivals(2**63 - 1), "bad_number"),
    "a capacity that is no number": (pb.FromNode(probed=pb.Probed(run=RUN, capacity_bps=nan)), "bad_number"),
    "neighbours of nobody": (pb.FromNode(moved=pb.Moved(run=RUN, neighbours=[5])), "unknown_link"),
    "a second join": (pb.FromNode(join=pb.Join(member="x")), "unexpected"),
    "nothing": (pb.FromNode(), "undecodable"),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_cannot_be_is_refused_by_its_reason(lie: str) -> None:
    message, reason = LIES[lie]
    assert verdict(message) == reason


@pytest.mark.parametrize("entry", [entry for table in TABLE for entry in totalled(table)], ids=lambda entry: entry.name)
def test_a_counter_is_believed_up_to_the_bound_in_its_table(entry: CounterEntry) -> None:
    def told(number: float) -> str:
        node, out, into = NodeCounters(run=RUN), OutCounters(), InCounters()
        for counters in (node, out, into):
            if hasattr(counters, entry.name):
                setattr(counters, entry.name, number)
        if entry.name == "refused":
            into.refused_by["wrong_run"] = int(number)
        node.out[2], node.into[2] = out, into
        return verdict(pb.FromNode(report=totals_message(node)))

    assert [told(number) for number in (0, entry.most, entry.most + 1)] == ["", "", "bad_number"]


def test_an_effect_that_ends_with_the_run_is_planned_for_infinity() -> None:
    assert verdict(fault(begins=False, planned=inf)) == ""


def test_only_a_node_that_acts_in_a_fault_can_tell_of_it() -> None:
    assert [verdict(pause(), node) for node in (0, 1, 2)] == ["unknown_fault", "", "unknown_fault"]
    assert verdict(pause(begins=False)) == ""  # a node that is stopped counts no iterations: it ends where it began
    assert verdict(pause(begins=False, planned=6.0)) == "unknown_fault"


def test_counts_at_their_limits_are_taken() -> None:
    assert verdict(of_round(wanted=5, received=2**20)) == ""
    assert verdict(refusing(3, (20, 1), (24, 2))) == ""


def test_the_name_of_a_mechanism_is_cut_at_200_characters() -> None:
    message = fault(mechanism="y" * 5000)
    message.fault.held.add(sender=1, receiver=2, property="cut", mechanism="x" * 5000)
    check(message, 1, True, FACTS)
    assert (len(message.fault.mechanism), len(message.fault.held[0].mechanism)) == (200, 200)


def test_sentences_are_cleaned_and_cut_and_not_refused() -> None:
    message = pb.FromNode(failure=pb.Failure(run=RUN, reason="first line\nsecond \x1b[31m" + "x" * 5000))
    check(message, 1, True, FACTS)
    assert message.failure.reason.startswith("first line second \\x1b[31mxxx")
    assert message.failure.reason.isprintable()
    assert len(message.failure.reason) < 2100


def test_what_belongs_to_a_former_run_is_known_as_such() -> None:
    assert not is_of(pb.FromNode(done=pb.Done(run=76)), RUN)
    assert is_of(pb.FromNode(done=pb.Done(run=77)), RUN)
    assert is_of(pb.FromNode(heartbeat=pb.Heartbeat()), RUN)
    assert is_of(pb.FromNode(), RUN)


def test_records_that_come_twice_after_a_broken_connection_are_heard_once() -> None:
    history = NodeHistory()
    assert [history.is_new((1, 0), records(0, 1), 0), history.is_new((1, 0), records(0, 1), 0)] == [True, False]
    assert history.is_new((1, 1), records(0, 1), 0)  # the next incarnation does them again
    with pytest.raises(ControlRefused):
        history.is_new((1, 0), records(1, 2), 0)
    assert history.is_new((1, 0), records(2), 0)


def test_a_snapshot_comes_only_after_the_records_before_it() -> None:
    history = NodeHistory()
    assert history.is_new((1, 0), chunk(iteration=0), 0)
    with pytest.raises(ControlRefused, match="iteration 5") as refused:
        history.is_new((1, 0), chunk(iteration=5), 0)
    assert refused.value.reason == "bad_iteration"
    assert history.is_new((1, 0), records(*range(5)), 0)
    assert history.is_new((1, 0), chunk(iteration=5), 0)
    assert history.is_new((1, 0), chunk(iteration=20, result=True), 0)


def test_a_node_that_comes_back_may_send_a_snapshot_of_where_it_begins() -> None:
    history = NodeHistory()
    history.begins((1, 1), 15)
    assert history.is_new((1, 1), chunk(iteration=15), 0)
    for ahead in ((1, 1), (1, 0)):
        with pytest.raises(ControlRefused):
            history.is_new(ahead, chunk(iteration=20), 0)


def test_snapshots_ascend_and_a_piece_that_comes_twice_is_heard_once() -> None:
    history, who = NodeHistory(), (1, 0)
    history.is_new(who, records(*range(10)), 0)
    pieces = [chunk(iteration=5), chunk(iteration=5, offset=1), chunk(iteration=5, offset=1), chunk(iteration=5)]
    assert [history.is_new(who, piece, 0) for piece in pieces] == [True, True, False, False]
    assert history.is_new(who, chunk(iteration=10), 0)
    with pytest.raises(ControlRefused) as refused:
        history.is_new(who, chunk(iteration=5, offset=2), 0)
    assert refused.value.reason == "bad_iteration"


def test_a_snapshot_whose_records_were_lost_with_a_connection_is_left_out_and_not_refused() -> None:
    history, who = NodeHistory(), (1, 0)
    history.broke(who)
    assert not history.is_new(who, chunk(iteration=5), 0)
    assert history.is_new(who, records(5, 6, 7, 8, 9), 0)
    assert history.is_new(who, chunk(iteration=10), 0)


def test_the_bytes_of_all_records_of_a_node_together_have_a_limit() -> None:
    history = NodeHistory()
    assert history.is_new((1, 0), records(0, size=2**47), 0)
    with pytest.raises(ControlRefused, match="bytes in all"):
        history.is_new((1, 1), records(0, 1, size=2**47), 0)


def test_reports_of_faults_have_a_limit() -> None:
    history = NodeHistory()
    assert all(history.is_new((1, 0), fault(), 2) for _ in range(8))
    for _ in range(100):
        history.is_new((1, 0), fault(), 2)
    with pytest.raises(ControlRefused, match="reports of faults"):
        history.is_new((1, 0), fault(), 2)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    reason = verdict(decoded(data))
    assert reason == "" or reason.isidentifier()


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 400), st.booleans())
def test_a_piece_of_a_snapshot_that_is_taken_lies_within_the_model(
    k: int, offset: int, n: int, size: int, result: bool
) -> None:
    message, facts = chunk(size, iteration=k, offset=offset, result=result), copy(FACTS)
    facts.n = n
    if verdict(message, facts=facts) == "":
        assert size % 8 == 0
        assert offset + size // 8 <= n
        assert k <= FACTS.iterations
