"""Prometheus' view of a real run: every node and the orchestrator, scraped while it goes on."""

import asyncio
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.results import Status
from tests.harness import until
from tests.orchestrator.backends.harness import on_a_ring, running
from tests.orchestrator.control.harness import linted, scrape


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(text)
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


@pytest.mark.requires("promtool")
async def test_a_run_under_way_can_be_seen_in_the_metrics_of_all_who_take_part(tmp_path: Path) -> None:
    seen: dict[str, str] = {}
    stop = {"iterations": 400, "seconds": "60s"}
    made = on_a_ring(4, compute={"step": "10ms"}, evaluate={"every": 5}, stop=stop)
    async with running(made, tmp_path / "run") as world:
        await world.at_iteration("node-0", 40)
        await until(lambda: world.run.totals.out().values_bytes > 0)  # the orchestrator has heard totals
        for member in world.control.members.alive():
            seen[member.name] = await asyncio.to_thread(scrape, member.metrics_address)
        seen["orchestrator"] = await asyncio.to_thread(scrape, world.control.metrics_address)
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED
    assert sorted(seen) == ["node-0", "node-1", "node-2", "node-3", "orchestrator"]
    for name, text in seen.items():
        assert linted(text) == (0, ""), name
    node = values(seen["node-0"])
    assert node["pame_node_iteration", ()] >= 30
    sent = node["pame_link_sent_messages_total", (("peer", "1"),)]
    assert sent >= 30
    values_bytes = node["pame_link_sent_bytes_total", (("kind", "values"), ("peer", "1"))]
    assert values_bytes % (15 * 8) == 0
    assert abs(values_bytes / (15 * 8) - sent) <= 5  # some may be sent while the scrape is on its way
    assert node["pame_link_acknowledged_messages_total", (("peer", "1"),)] <= sent
    assert node["pame_node_round_trip_seconds_count", ()] > 0
    whole = values(seen["orchestrator"])
    assert whole["pame_run_phase", (("phase", "running"),)] == 1
    assert whole["pame_orchestrator_alive_members", ()] == 4
    assert whole["pame_run_objective", ()] > 0
    assert whole["pame_run_iteration", (("position", "median"),)] >= 20
    assert whole["pame_run_sent_bytes_total", (("kind", "values"),)] > 0
    messages = whole["pame_run_sent_messages_total", ()]
    assert messages > 0
    assert whole["pame_run_dense_bytes_total", ()] == messages * 30 * 8
    assert whole["pame_run_paper_bytes_total", ()] == messages * (63 * 15 + 30) / 8
    assert whole["pame_run_evaluated_bytes", ()] >= 8 * 15 * 8  # an evaluation after one iteration of all, or more
    assert whole["pame_run_disturbances_total", (("what", "died"),)] == 0
