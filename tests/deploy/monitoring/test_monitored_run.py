"""Debian's Prometheus with our configuration watches real runs: every panel and annotation has something to show."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from contract.rpc import exchange_pb2
from node.link_stream import PUSH
from node.stream_proof import shown
from orchestrator.backends.processes import NodeProcesses
from orchestrator.live import LivePage
from tests.contract.harness import stream
from tests.deploy.monitoring.harness import (
    Asked,
    Prometheus,
    annotation_queries,
    dashboards,
    panel_queries,
    prometheus,
    regions,
)
from tests.harness import until
from tests.orchestrator.backends.harness import answer, attached, join_of
from tests.orchestrator.control.harness import TOKEN, Served, served, text_of

NODES = 5
VICTIM = "node-2"
BOUND_S = 45.0
SHADED_S = 12.0
"""So long at least; and so much later at most than the run was asked for: three steps."""

COMMON = {
    "nodes": NODES,
    "topology": {"kind": "complete"},
    "problem": {"kind": "linear", "n": 30, "samples": 20, "test_samples": 10},
    "period": 1,
    "compute": {"step": "25ms"},
    "evaluate": {"every": 5},
    "stop": {"iterations": 100_000, "seconds": "100s"},
}
QUIET = {**COMMON, "topology": {"kind": "ring"}, "algorithm": {"kind": "pame", "participation": 1.0, "support": 0.2}}
ROUGH = {
    **COMMON,
    "algorithm": {"kind": "pame", "participation": 0.5, "support": 0.2},
    "exchange": {"spare": "all", "patience": "100ms", "max_lag": 1},
    "messages": {"loss": 0.5},
    "faults": [{"kind": "straggler", "nodes": "random(20%)", "factor": 8}],
}


@pytest.mark.requires("promtool")
@pytest.mark.timeout(300)
def test_in_real_runs_every_panel_and_every_annotation_has_data_and_the_labels_name_the_nodes(tmp_path: Path) -> None:
    assert shutil.which("prometheus"), "promtool is here, but prometheus is not: install both"
    asyncio.run(_watch_two_runs(tmp_path))


async def _watch_two_runs(folder: Path) -> None:
    async with network(folder) as (world, page, processes):
        began = time.time()
        await world.submit(text_of(**QUIET))
        await running(world)
        with prometheus(folder / "prometheus", page.address, world.control.metrics_address) as server:
            quiet = panel_queries()
            await until_none_left(lambda: without_data(server, quiet, began, by_panel=True))
            await until_none_left(lambda: not_healthy(server))
            await asyncio.to_thread(check_labels, server)
            await asyncio.to_thread(check_figures, server, world)
            await end(world)

            await world.submit(text_of(**ROUGH))
            await running(world)
            began = time.time()
            await lie(world)
            await until(lambda: world.desk.run and world.desk.run.collection.iterations[0] > 20)
            os.kill(processes.alive()[VICTIM], signal.SIGKILL)
            await until(lambda: world.desk.run and world.desk.run.disturbances.deaths == 1)
            processes.start(VICTIM, world.control.address, world.control.token)
            asked = panel_queries() + annotation_queries()
            await until_none_left(lambda: without_data(server, asked, began, by_panel=False))
            await until_none_left(lambda: not_positive(server))
            await until_none_left(lambda: not_shaded(server, began))
            await end(world)


@asynccontextmanager
async def network(folder: Path) -> AsyncIterator[tuple[Served, LivePage, NodeProcesses]]:
    """An orchestrator with its live page, and node processes that have joined it."""
    async with served(folder / "runs") as world:
        page = LivePage(world.desk, world.out, "", "127.0.0.1", 0)
        await page.open()
        try:
            with NodeProcesses(folder / "nodes.log") as processes:
                for number in range(NODES):
                    processes.start(f"node-{number}", world.control.address, TOKEN)
                await until(lambda: len(world.control.members.alive()) == NODES)
                yield world, page, processes
        finally:
            await page.close()


async def running(world: Served) -> None:
    await until(lambda: world.desk.run and world.desk.run.phase == "running")


async def end(world: Served) -> None:
    assert world.desk.cancel(0), "the run went on till now"
    await asyncio.wait_for(world.desk.ending(), BOUND_S)


async def lie(world: Served) -> None:
    """A join with a guessed token, and messages that are none."""
    async with attached(world.control, join_of(world.control, token="guessed").SerializeToString()) as call:
        assert (await answer(call, "refused")).refused.detail
    member, run = world.control.members.get("node-0"), world.desk.run
    assert member is not None
    assert run is not None
    proof = shown(run.common.secret, member.address)
    async with grpc.aio.insecure_channel(member.address) as channel, asyncio.timeout(BOUND_S):
        push = stream(channel, PUSH, exchange_pb2.Receipt, proof)
        for _ in range(3):
            await push.write(b"\xff" * 40)
        await push.done_writing()
        async for _ in push:
            pass


def without_data(server: Prometheus, asked: Iterable[Asked], since: float, by_panel: bool) -> list[object]:
    """The queries that return nothing, or the panels of which no query returns anything."""
    missing: list[object] = []
    having: dict[tuple[str, str], bool] = {}
    for query in asked:
        has = server.has_data(query, since)
        panel = query.dashboard, query.panel
        having[panel] = has or having.get(panel, False)
        if not has and not by_panel:
            missing.append(query)
    return [panel for panel, has in having.items() if not has] if by_panel else missing


POSITIVE = (
    'max_over_time(fate:pame_link_messages:rate15s{fate="late"}[1m])',
    'max_over_time(fate:pame_link_messages:rate15s{fate="lost"}[1m])',
    "sum(max_over_time(pame_run_late_messages_total[1m]))",
    "sum(max_over_time(pame_run_starved_rounds_total[1m]))",
    'sum(max_over_time(pame_run_disturbances_total{what="died"}[1m]))',
    'sum(max_over_time(pame_run_disturbances_total{what="restarted"}[1m]))',
    "pame_run_active_faults",
    "max(max_over_time(pame_node_staleness[1m]))",
    'sum(pame_node_received_refused_messages_total{node="0", reason="not_a_message"}) - 2',
    'sum(pame_orchestrator_refused_joins_total{reason="wrong_token"})',
    f'sum(up{{job="node", member="{VICTIM}", node="2"}})',
)  # fmt: skip
"""What this run must show, not merely have."""


def not_positive(server: Prometheus) -> list[str]:
    return [expr for expr in POSITIVE if not any(value > 0 for value in server.values(expr).values())]


def not_shaded(server: Prometheus, since: float) -> list[object]:
    """The dashboards that would not shade this run, whose fault never ends, from its begin on in one piece."""
    wrong: list[object] = []
    for name, dashboard in dashboards().items():
        [faults] = [each for each in dashboard["annotations"]["list"] if each["name"] == "Faults in force"]
        found = regions(server, faults["target"], since)
        if len(found) != 1 or found[0][1] - found[0][0] < SHADED_S or found[0][0] > since + SHADED_S:
            wrong.append((name, found))
    return wrong


def not_healthy(server: Prometheus) -> list[object]:
    """Rules that could not be evaluated, targets that do not answer, and why."""
    found = [rule for group in server.get("rules")["groups"] for rule in group["rules"] if rule["health"] != "ok"]
    return found + [each for each in server.get("targets", state="active")["activeTargets"] if each["health"] != "up"]


def check_labels(server: Prometheus) -> None:
    """Every node once, under its index; the orchestrator too; a link is (node, peer)."""
    active = server.get("targets", state="active")["activeTargets"]
    found = {(t["labels"]["job"], t["labels"].get("node"), t["labels"].get("member")) for t in active}
    assert found == {("orchestrator", None, None)} | {("node", str(i), f"node-{i}") for i in range(NODES)}
    assert len(active) == NODES + 1
    for series in server.get("query", query="pame_node_info")["result"]:
        assert series["metric"]["node"] == series["metric"]["index"]
    links = {
        (dict(labels)["node"], dict(labels)["peer"])
        for labels in server.values("sum by (node, peer) (pame_link_sent_bytes_total)")
    }
    assert links == {(str(i), str((i + step) % NODES)) for i in range(NODES) for step in (1, -1)}


def check_figures(server: Prometheus, world: Served) -> None:
    """What can be worked out by hand: s = 6 of n = 30, so that a message has 48 bytes of values."""
    [dense] = server.values("sum(pame_run_dense_bytes_total) / sum(pame_run_sent_messages_total)").values()
    assert dense == 8 * 30
    [paper] = server.values("sum(pame_run_paper_bytes_total) / sum(pame_run_sent_messages_total)").values()
    assert paper == (63 * 6 + 30) / 8
    [saved] = server.values("network:pame_run_saved_dense:ratio").values()
    assert 1 - (48 + 20) / 240 < saved < 1 - 48 / 240 + 0.05  # the first messages are all stars
    assert world.desk.run is not None
    ours = world.desk.run.totals.out().by_kind()
    [seen] = server.values("sum(pame_run_sent_bytes_total)").values()
    assert 0 < seen <= sum(ours.values())


async def until_none_left(missing: Callable[[], list[Any]]) -> None:
    """Ask again and again, beside the network that runs in this very loop."""
    deadline = time.monotonic() + BOUND_S
    while left := await asyncio.to_thread(missing):
        assert time.monotonic() < deadline, f"still without data: {left}"
        await asyncio.sleep(0.5)
