"""The parts of the live page that need no server: thinning, link rates, node labels, and what is left out."""

import asyncio
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.counters import InCounters, NodeCounters, OutCounters
from contract.rpc import experiments_pb2 as pb
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.index_table import IndexTable
from orchestrator.control.members import Member, Members
from orchestrator.control.totals import Totals
from orchestrator.experiment import Experiment
from orchestrator.live import state
from orchestrator.live.cached_answers import CachedAnswer
from orchestrator.live.downsampled_curve import DownsampledCurve
from orchestrator.live.flows import WINDOW_S, Flow, LinkRates, NodeSums
from orchestrator.live.nodes import targets
from orchestrator.live.run_record import RunRecord


@given(count=st.integers(0, 3000), most=st.integers(4, 64))
def test_a_thinned_curve_is_short_in_order_and_has_both_ends(count: int, most: int) -> None:
    curve: DownsampledCurve[int] = DownsampledCurve(most)
    for number in range(count):
        curve.add(number)
        points = curve.points()
        assert len(points) <= most
        assert points[0] == 0
        assert points[-1] == number
    assert points == sorted(set(points)) if count else curve.points() == []
    assert len(curve.points()) >= min(count, most // 2 - 1)


def totals_at(*reports: tuple[float, int, int, dict[int, int]]) -> tuple[LinkRates, Totals]:
    """Flows that have seen (when, node, incarnation, values bytes by receiver), one after the other."""
    flows, totals = LinkRates(), Totals(4)
    for when, node, incarnation, sent in reports:
        out = {receiver: OutCounters(values_bytes=size) for receiver, size in sent.items()}
        totals.heard((node, incarnation), NodeCounters(out=out, expired=1))
        totals.heard_at[node, incarnation] = when
        flows.take(totals)
    return flows, totals


def test_a_rate_is_what_was_sent_in_the_last_seconds() -> None:
    flows, _ = totals_at(*((100.0 + second, 0, 0, {1: 1000 * second, 2: 0}) for second in range(20)))
    assert flows.links(119.5) == {(0, 1): Flow(19000, 1000.0), (0, 2): Flow(0, 0.0)}


def test_a_link_that_pauses_slows_down_to_nothing_within_the_window() -> None:
    sizes = [1000 * min(second, 10) for second in range(17)]
    flows, _ = totals_at(*((float(second), 0, 0, {1: size}) for second, size in enumerate(sizes)))
    assert flows.links(16.0) == {(0, 1): Flow(10000, 0.0)}


def test_nothing_flows_from_a_node_that_has_said_nothing_for_long() -> None:
    flows, _ = totals_at((0.0, 0, 0, {1: 0}), (1.0, 0, 0, {1: 500}))
    assert flows.links(1.0 + WINDOW_S)[0, 1].rate == 500.0
    assert flows.links(1.1 + WINDOW_S)[0, 1] == Flow(500, 0.0)


def test_the_first_word_of_a_node_is_no_rate() -> None:
    flows, _ = totals_at((0.0, 0, 0, {1: 10**9}), (0.01, 0, 0, {1: 10**9 + 5}))
    assert flows.links(0.01) == {(0, 1): Flow(10**9 + 5, 0.0)}


def test_a_node_that_came_back_counts_on_from_its_former_self() -> None:
    flows, totals = totals_at((0.0, 0, 0, {1: 0}), (1.0, 0, 0, {1: 100}), (9.0, 0, 1, {1: 0}), (10.0, 0, 1, {1: 70}))
    assert flows.links(10.0) == {(0, 1): Flow(170, 70.0)}
    assert totals.figures().node.expired == 2


def test_only_who_is_still_there_can_suspect_somebody() -> None:
    flows, totals = totals_at()
    for node in (0, 1):
        into = {3: InCounters(suspect=1), 2: InCounters(suspect=node == 1)}
        totals.heard((node, 0), NodeCounters(into=into))
    flows.take(totals)
    assert flows.suspects({(0, 0)}) == {3}
    assert flows.suspects({(0, 1), (1, 0)}) == {2, 3}


def test_what_a_node_waited_for_sent_and_received_counts_on_over_its_restarts() -> None:
    flows, totals = totals_at()
    for incarnation, waited in ((0, 2.5), (1, 0.5)):
        sent = {1: OutCounters(values_bytes=100), 2: OutCounters(support_bytes=7)}
        came = {1: InCounters(received_bytes=30), 2: InCounters(received_bytes=4)}
        totals.heard((0, incarnation), NodeCounters(wait_s=waited, out=sent, into=came))
    flows.take(totals)
    assert flows.node_sums() == {0: NodeSums(waited=3.0, sent=214, received=68)}


def test_of_many_links_the_two_directions_are_one_and_the_busiest_come_first() -> None:
    few = {(0, 1): Flow(1, 5.0), (1, 0): Flow(10, 2.0)}
    assert state._rows(few) == [[0, 1, 1, 5], [1, 0, 10, 2]]
    many = {(i, j): Flow(i, float(j)) for i in range(50) for j in range(50) if i != j}
    assert len(many) > state.DIRECTED_LINKS
    rows = state._rows(many)
    assert len(rows) == len(many) // 2
    assert rows[0] == [48, 49, 48 + 49, 49 + 48]
    assert sum(row[2] for row in rows) == sum(flow.bytes for flow in many.values())
    assert all(sender < receiver for sender, receiver, _, _ in rows)


def member(name: str, **settings: object) -> Member:
    made = Member(name, f"{name}:1", f"{name}:9464", "1", 1)
    for key, value in settings.items():
        setattr(made, key, value)
    return made


def nodes_of(members: Members) -> dict[str, str]:
    groups = targets(members.all())
    assert all(group["targets"] == [f"{group['labels']['member']}:9464"] for group in groups)
    return {group["labels"]["member"]: group["labels"]["node"] for group in groups}


def test_prometheus_hears_of_who_is_there_and_has_metrics() -> None:
    members = Members()
    for one in (member("a"), member("b", alive=False), member("c", metrics_address="")):
        members.add(one)
    assert targets(members.all()) == [{"targets": ["a:9464"], "labels": {"node": "-", "member": "a"}}]


def test_a_member_keeps_its_index_after_the_run_and_never_shares_it() -> None:
    members, seats = Members(), IndexTable(2)
    a, b, c = member("a"), member("b"), member("c")
    for one in (a, b, c):
        members.add(one)
    seats.take(0, a)
    seats.take(1, b)
    assert nodes_of(members) == {"a": "0", "b": "1", "c": "-"}
    members.left(b)
    seats.take_over(1, c)
    assert nodes_of(members) == {"a": "0", "c": "1"}
    members.add(member("b"))
    assert nodes_of(members) == {"a": "0", "b": "-", "c": "1"}
    seats.leave()
    members.left(a)
    members.add(member("a"))  # its connection broke, and it is back before the next run
    assert nodes_of(members) == {"a": "0", "b": "-", "c": "1"}


async def test_an_answer_is_made_once_however_many_ask_and_again_when_it_is_old() -> None:
    made: list[float] = []

    async def make() -> dict[str, int]:
        made.append(time.monotonic())
        await asyncio.sleep(0)
        return {"made": len(made)}

    kept = CachedAnswer(make, 3600.0)
    answers = await asyncio.gather(*(kept.get() for _ in range(50)))
    assert {answer.plain for answer in answers} == {b'{"made":1}'}
    fresh = CachedAnswer(make, 0.0)
    assert [(await fresh.get()).plain for _ in range(2)] == [b'{"made":2}', b'{"made":3}']


async def test_a_mistake_in_making_an_answer_is_not_kept() -> None:
    mistakes = [ValueError("once")]

    async def make() -> int:
        if mistakes:
            raise mistakes.pop()
        return 7

    kept = CachedAnswer(make, 3600.0)
    with pytest.raises(ValueError, match="once"):
        await kept.get()
    assert (await kept.get()).plain == b"7"


def test_a_point_has_the_accuracy_of_the_mean_model_and_of_the_nodes_or_none() -> None:
    record = RunRecord(Broadcast(1, Experiment(), "20261118-120000-demo"), Path())
    metrics, lowest, highest = ({"test_accuracy": share} for share in (0.75, 0.7, 0.8))
    own = pb.OwnModels(objective=0.6, worst=0.7, metrics=metrics, lowest=lowest, highest=highest)
    point = pb.Point(by="iteration", iteration=5, seconds=1.5, bytes=10, objective=0.5, consensus=0.25)
    judged = pb.Point(metrics={"test_accuracy": 0.8125, "test_loss": 1.0}, own=own)
    judged.MergeFrom(point)
    for each in (point, judged):
        record.heard(pb.Event(point=each), None)
    plain, accurate = record.told()["by_iteration"]
    assert plain == [5, 1.5, 10, 0.5, 0.25, None, None, None, None]
    assert accurate == [5, 1.5, 10, 0.5, 0.25, 0.8125, 0.75, 0.7, 0.8]
