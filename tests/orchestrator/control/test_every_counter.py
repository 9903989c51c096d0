"""Every line of the table of counters, from a node's report to Prometheus, summary.json and the report's page."""

import asyncio
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric

from contract.counter_reports import totals_message
from contract.counters import SCOPES, TABLE, CounterEntry, InCounters, NodeCounters, OutCounters, Total, totalled
from contract.ports.metric_families import Build
from contract.rpc import control_pb2 as pb
from node.metrics import NodeCollector
from orchestrator.control.recorded_run import RunOrder, make_order
from orchestrator.control.run_messages import message_heard
from tests.harness import Watcher
from tests.orchestrator.control import builders as honest
from tests.orchestrator.control.harness import experiment_of, run_of_three
from tests.orchestrator.harness import summary_of
from tests.orchestrator.report.oracle import Reader

ENTRIES = [(table, entry) for table in TABLE for entry in totalled(table)]


def filled(run: int, numbers: Iterator[int], *peers: int) -> NodeCounters:
    """Every counter has a number that no other has; those that cannot have it, 1."""
    node = NodeCounters(run=run, index=0)
    node.out, node.into = {peer: OutCounters() for peer in peers}, {peer: InCounters() for peer in peers}
    for counters in (node, *node.out.values(), *node.into.values()):
        for entry in TABLE[type(counters)]:
            setattr(counters, entry.name, min(next(numbers), entry.most))
    for link in node.into.values():
        link.refused_by["wrong_run"] = link.refused
    return node


def numbers_of(entry: CounterEntry, table: type, nodes: list[NodeCounters]) -> list[float]:
    """In the order of nodes and their peers."""
    out, into = [node.out.values() for node in nodes], [node.into.values() for node in nodes]
    counted: dict[type, list[Any]] = {OutCounters: [*chain(*out)], InCounters: [*chain(*into)], NodeCounters: nodes}
    return [getattr(each, entry.name) for each in counted[table]]


async def recorded(order: RunOrder, folder: Path, reports: list[NodeCounters]) -> None:
    """A run whose nodes say nothing but these totals."""
    async with run_of_three(order, folder, Watcher()) as (run, members, conducting):
        for member, report in zip(members, reports, strict=True):
            message_heard(run, member, pb.FromNode(report=totals_message(report)))
            for message in honest.snapshots(order.number, 7, 20, result=True):
                message_heard(run, member, message)
            message_heard(run, member, pb.FromNode(finished=pb.Finished(run=order.number)))
        run.cancel()
        await conducting


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[NodeCounters]]:
    """The folder of a run, and what its nodes had counted."""
    room = tmp_path_factory.mktemp("counters")
    order = make_order(experiment_of(verify={"when": "never"}), room, "local")
    numbers = count(1001)
    nodes = [filled(order.number, numbers, *(peer for peer in range(3) if peer != index)) for index in range(3)]
    asyncio.run(recorded(order, room / "run", nodes))
    return room / "run", nodes


@pytest.mark.parametrize(("table", "entry"), ENTRIES, ids=lambda part: getattr(part, "name", ""))
def test_a_counter_reaches_the_summary_and_the_report(
    run: tuple[Path, list[NodeCounters]], table: type, entry: CounterEntry
) -> None:
    folder, nodes = run
    numbers = numbers_of(entry, table, nodes)
    network = summary_of(folder)["network"]
    assert network[entry.name] == (max(numbers) if entry.total is Total.LARGEST else sum(numbers))
    page = Reader((folder / "report.html").read_text()).text
    assert f"each {SCOPES[table]} {entry.name} {entry.words}" in page


def metrics(account: NodeCounters) -> dict[tuple[str, ...], float]:
    families: list[Metric] = list(NodeCollector(lambda: account, Build("1")).collect())
    return {(sample.name, *sample.labels.values()): sample.value for each in families for sample in each.samples}


def test_every_counter_with_a_metric_is_a_series() -> None:
    account = filled(1, count(1001), 4)
    seen = metrics(account)
    for table, prefix, counters, peer in (
        (OutCounters, "pame_link", account.out[4], ["4"]),
        (InCounters, "pame_link", account.into[4], ["4"]),
        (NodeCounters, "pame_node", account, []),
    ):
        for entry in TABLE[table]:
            if entry.metric:
                labels = [*peer, *([entry.kind] if entry.kind else [])]
                assert seen[f"{prefix}_{entry.metric}", *labels] == getattr(counters, entry.name)


def test_a_name_stands_once_in_the_whole_table() -> None:
    names = [entry.name for table in TABLE.values() for entry in table]
    assert len(set(names)) == len(names)
