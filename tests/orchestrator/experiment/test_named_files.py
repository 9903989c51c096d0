"""Files that an experiment names: read from its folder, or carried by a client; an orchestrator opens none."""

import asyncio
from pathlib import Path

import pytest

from orchestrator.control.client import Client
from orchestrator.errors import SubmissionRefused, UnreadableFile
from orchestrator.experiment import Experiment, load_text, to_yaml
from orchestrator.experiment.named_files import MOST_CARRIED, carried, text_of
from tests.orchestrator.control.harness import TOKEN, experiment_of, served

EDGES = "0 1\n1 2\n0 2\n"
PLAN = (
    '{"number":0,"fault":"link-down","effect":{"kind":"cut","links":[[0,1]]},"begin":30.0,"end":40.0,"unit":"seconds"}'
)
FILE = {"topology": {"kind": "edge-list", "file": "graphs/a.txt"}, "plan": "old/plan.jsonl"}


def folder(base: Path) -> Path:
    for name, text in (("graphs/a.txt", EDGES), ("old/plan.jsonl", PLAN)):
        (base / name).parent.mkdir(parents=True)
        (base / name).write_text(text)
    return base


def test_a_client_carries_what_the_experiment_names(tmp_path: Path) -> None:
    files = carried(experiment_of(**FILE), folder(tmp_path))
    assert files == {"graphs/a.txt": EDGES, "old/plan.jsonl": PLAN}
    assert carried(experiment_of(), tmp_path) == {}


def test_a_text_comes_from_the_folder_or_from_what_is_carried_and_from_nowhere_else(tmp_path: Path) -> None:
    folder(tmp_path)
    assert text_of("plan", "old/plan.jsonl", tmp_path) == PLAN
    assert text_of("plan", "x", {"x": "y"}) == "y"
    with pytest.raises(UnreadableFile, match="does not carry"):
        text_of("plan", str(tmp_path / "old/plan.jsonl"), {})
    for wrong in ("\0", "nowhere", ".", "x" * 5000):
        with pytest.raises(UnreadableFile, match="plan: cannot read"):
            text_of("plan", wrong, tmp_path)


def test_a_client_does_not_carry_too_much(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("#" * (MOST_CARRIED + 1))
    with pytest.raises(UnreadableFile, match="at most 3 MiB"):
        carried(experiment_of(plan="large"), tmp_path)


async def test_an_edge_list_and_a_plan_of_the_client_work_on_a_served_orchestrator(tmp_path: Path) -> None:
    here = folder(tmp_path / "client")
    experiment = load_text(to_yaml(experiment_of(**FILE)), Path("a"))[0].experiment
    async with asyncio.timeout(100), served(tmp_path / "runs") as world:

        def submit(made: Experiment, files: dict[str, str]) -> str:
            with Client(world.control.address, TOKEN) as client:
                return client.submit(to_yaml(made), files).folder

        paths_of_the_orchestrator = experiment_of(plan=str(here / "old/plan.jsonl"))
        with pytest.raises(SubmissionRefused) as refused:
            await asyncio.to_thread(submit, paths_of_the_orchestrator, {})
        name = await asyncio.to_thread(submit, experiment, carried(experiment, here))
        await world.cancel(0)
        await world.desk.ending()
    assert "does not carry the text" in str(refused.value)
    assert "bad_experiment" in str(refused.value)
    run = tmp_path / "runs" / name
    assert (run / "plan.jsonl").read_text().strip() == PLAN
    assert '"edges"' in (run / "topology.json").read_text()
