"""A node that sends wrong messages into a real run, 25,000 at a time: it is refused, and the run keeps its results.

200,000 in all, a part per test; the seed is fixed.
"""

import asyncio
from pathlib import Path
from random import Random

import numpy as np
import pytest

from contract.rpc import control_pb2 as pb
from orchestrator.control import NetworkRunState
from orchestrator.control.field_ranges import ControlRefused
from orchestrator.control.node_messages import NodeFacts, check, decoded
from orchestrator.control.recorded_run import RunOrder, make_order
from orchestrator.control.run_messages import message_heard
from orchestrator.results import Ending, Status
from tests.contract.builders import mutated
from tests.harness import Watcher
from tests.orchestrator.control import builders as honest
from tests.orchestrator.control.harness import experiment_of, run_of_three
from tests.orchestrator.harness import events_of, rows_of, summary_of

PARTS, EACH = 8, 25_000
LIAR = 1
EVERY, SNAPSHOTS = 5, 5
FAULTS = [{"kind": "link-down", "links": "all", "at": "500s"}]


def corpus_of(order: RunOrder) -> list[pb.FromNode]:
    join = pb.FromNode(join=pb.Join(member="x", address="127.0.0.1:1"))
    failure = pb.FromNode(failure=pb.Failure(run=order.number, reason="no", diverged=True, unheard=True))
    wanted = pb.FromNode(data_wanted=pb.DataWanted(run=order.number))
    return [*honest.everything(order.number, LIAR, order.setting), join, failure, wanted]


def ends_the_run(message: pb.FromNode) -> bool:
    """What is taken, if it is well made, and then ends the run, as it should: a failure, a model that diverges."""
    if message.WhichOneof("kind") != "snapshot" or len(message.snapshot.values) % 8:
        return bool(message.WhichOneof("kind") == "failure")
    return not bool((np.abs(np.frombuffer(message.snapshot.values, "<f8")) <= 1.0).all())


def progress(order: RunOrder, node: int, k: int) -> list[pb.FromNode]:
    """Records up to an iteration, and its snapshot."""
    made = [honest.record(node, before) for before in range(max(0, k - EVERY), k)]
    report = pb.FromNode(report=pb.Report(run=order.number, records=made))
    return [report, *honest.snapshots(order.number, k, order.setting.problem.n)]


async def besieged(order: RunOrder, folder: Path, part: int, points: Watcher) -> tuple[Ending, NetworkRunState]:
    """A run of three nodes, of which one sends what is made of honest messages by mutation."""
    random, corpus = Random(f"control {part}"), corpus_of(order)
    facts = NodeFacts(order.setting, EVERY)
    async with run_of_three(order, folder, points) as (run, members, conducting):
        for number in range(EACH):
            k, is_between = divmod(number, EACH // SNAPSHOTS)
            if not is_between:
                for index, member in enumerate(members):
                    for message in progress(order, index, EVERY * k):
                        message_heard(run, member, message)
            message = decoded(mutated(random, corpus))
            if ends_the_run(message):
                _checked(message, facts)
            else:
                message_heard(run, members[LIAR], message)
            if number % 250 == 0:
                for index, member in enumerate(members):
                    member.heard_at = asyncio.get_running_loop().time()
                    message_heard(run, member, honest.totals(order.number, index, order.setting))
                await asyncio.sleep(0)
        assert run.phase == "running"
        for index, member in enumerate(members):
            for message in (*honest.snapshots(order.number, 7, 20, result=True), *_parting(order, index)):
                message_heard(run, member, message)
        run.cancel()
        return await conducting, run


def _parting(order: RunOrder, index: int) -> list[pb.FromNode]:
    return [honest.totals(order.number, index, order.setting), pb.FromNode(finished=pb.Finished(run=order.number))]


def _checked(message: pb.FromNode, facts: object) -> None:
    try:
        check(message, LIAR, True, facts)  # type: ignore[arg-type]
    except ControlRefused:
        return


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_messages_of_a_node_never_break_a_run(tmp_path: Path, part: int) -> None:
    experiment = experiment_of(faults=FAULTS, verify={"when": "never"}, evaluate={"every": EVERY})
    order = make_order(experiment, tmp_path, "local")
    points = Watcher()
    ending, run = asyncio.run(besieged(order, tmp_path / "run", part, points))
    assert ending.status is Status.INTERRUPTED
    by_time = [point.iteration for point in points.by("time")]
    assert by_time == sorted(set(by_time))
    assert len(by_time) >= 3
    refused = run.refused.counts
    assert {node for node, _ in refused} == {LIAR}
    assert EACH // 10 < refused.total() < EACH
    assert {"undecodable", "bad_number", "unknown_link", "bad_snapshot", "bad_iteration"} <= {why for _, why in refused}
    folder = tmp_path / "run"
    summary = summary_of(folder)
    assert any("node 1 sent nonsense" in line for line in summary["warnings"])
    assert set(summary["network"]["results"]) == {"0", "1", "2"}
    assert all(0 <= int(row["bytes"]) < 2**63 for row in rows_of(folder / "links.csv"))
    told = events_of(folder, "refused")
    assert {event["node"] for event in told} == {LIAR}
    assert 1 <= len(told) <= 20
    assert (folder / "report.html").stat().st_size > 1000
