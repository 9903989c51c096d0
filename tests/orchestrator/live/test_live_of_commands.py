"""The page of a command: how far a campaign is, in a real browser, and the faults of a simulated run."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from contract.rpc import experiments_pb2 as pb
from orchestrator.control.broadcast import Broadcast
from orchestrator.live import LivePage
from orchestrator.live.campaign_progress import CampaignProgress
from orchestrator.live.command_runs import CommandRuns
from orchestrator.live.run_record import RunRecord
from orchestrator.live.simulated_run import SimulatedRun
from pame.fault_effects import CutEffect, FaultEvent, PauseEffect, Window
from pame.fault_plan_text import plan_lines
from pame.observe import Record
from tests.harness import Watcher
from tests.orchestrator.control.harness import experiment_of
from tests.orchestrator.live.browsing import browsing


@pytest.mark.requires("chromium")
async def test_a_campaign_shows_its_stages_its_newest_runs_and_what_is_left(tmp_path: Path, browser: Browser) -> None:
    runs, progress = CommandRuns("in the simulator", lambda: None), CampaignProgress("logistic", "compare", "folder")
    runs.conducts(progress)
    progress.stage("tuning", 4, 4, 1.0)
    progress.stage("comparison", 8, 2, 0.375)
    progress.row("a", "<b>pame</b>", 3, "simulate", {"f − f*": "0.012"})
    page = LivePage(runs, tmp_path, "", "127.0.0.1", 0)
    await page.open()
    try:
        async with browsing(browser) as look:
            await look.open(f"http://{page.address}/")
            assert await look.text("#campaign-title") == "Campaign: compare logistic"
            assert (await look.text("#campaign-lead")).startswith("6 of 12 runs done")
            bars = await look.page.eval_on_selector_all("#stages progress", "all => all.map(bar => bar.value)")
            assert bars == [1.0, 0.375]
            assert (await look.text("#stages")).split() == ["tuning", "4", "of", "4", "comparison", "2", "of", "8"]
            cells = await look.page.eval_on_selector_all(
                "#campaign-rows td", "all => all.map(cell => cell.textContent)"
            )
            assert cells == ["<b>pame</b>", "3", "0.012", "simulate"]
            progress.stage("comparison", 8, 8, 1.0)
            progress.over("finished")
            await look.shows("document.getElementById('campaign-lead').textContent === 'finished: 12 of 12 runs done.'")
            assert look.complaints() == []
    finally:
        await page.close()


def test_a_simulated_run_shows_the_faults_of_its_plan(tmp_path: Path) -> None:
    experiment = experiment_of()
    broadcast = Broadcast(5, experiment, tmp_path.name)
    run = SimulatedRun(5, experiment, broadcast, lambda *_: None, Watcher())
    record = RunRecord(broadcast, tmp_path)
    plan = [
        FaultEvent(0, "link-down", CutEffect(((0, 1),)), Window(10, 25, "iterations")),
        FaultEvent(1, "pause", PauseEffect((2,)), Window(1.5, 9.0)),
        FaultEvent(2, "link-down", CutEffect(((1, 2),)), Window(28, 29, "iterations")),
    ]
    (tmp_path / "plan.jsonl").write_text("".join(f"{line}\n" for line in plan_lines(plan)))
    run.recorded([Record(node, 19, 1.9) for node in range(3)])
    record.heard(pb.Event(phase=pb.Phase(phase="running")), run)
    told, nodes = record.told(), record.nodes(CommandRuns("", lambda: None))
    assert [(row["kind"], row["state"]) for row in told["faults"]] == [
        ("pause", "now"), ("link-down", "now"), ("link-down", "next"),
    ]  # fmt: skip
    assert told["marked"] == [(0, 1, "cut")]
    assert [node["state"] for node in nodes] == ["running", "running", "paused"]
    record.heard(pb.Event(ended=pb.Ended(status="finished")), run)
    assert [row["state"] for row in record.told()["faults"]] == ["past", "past", "missed"]
    assert record.told()["marked"] == []
