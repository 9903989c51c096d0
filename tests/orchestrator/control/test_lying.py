"""A node and an orchestrator that talk nonsense: a run ends well, and says who did."""

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from itertools import permutations
from math import nan
from pathlib import Path

from contract.rpc import control_pb2 as pb
from orchestrator.control.refused_reports import MOST_REFUSALS
from tests.harness import until
from tests.orchestrator.control.harness import TOKEN, experiment_of, scrape, served, text_of
from tests.orchestrator.harness import events_of, rows_of, summary_of
from tests.orchestrator.simulated import is_as_simulated

ROOT = Path(__file__).parents[3]
BOUND_S = 100.0


async def test_a_run_with_a_node_that_lies_is_finished_and_names_it(tmp_path: Path) -> None:
    async with asyncio.timeout(BOUND_S), served(tmp_path / "runs") as world:
        where = ("--orchestrator", world.control.address, "--token", TOKEN, "--member", "node-2")
        script = str(Path(__file__).with_name("lying_node.py"))
        with (tmp_path / "liar.log").open("w") as log:
            # in this environment a BLAS may be chosen: a node that computes other bits is not let in
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            liar = subprocess.Popen([sys.executable, script, *where], cwd=ROOT, env=environment, stderr=log)
            try:
                async with world.nodes("node-0", "node-1"):
                    accepted = (await world.submit(text_of(compute={"step": "20ms"}))).accepted
                    watching = asyncio.create_task(world.watch(accepted.run))
                    metrics = ""
                    while not watching.done():
                        metrics = await asyncio.to_thread(_scraped, world.control.metrics_address) or metrics
                        await asyncio.sleep(0.1)
                    assert watching.result()[-1].ended.status == "finished", watching.result()[-1]
                assert await asyncio.to_thread(liar.wait, BOUND_S) == 0  # it was dismissed like the others
            finally:
                liar.kill()
                liar.wait()
    folder = tmp_path / "runs" / accepted.folder
    warnings = summary_of(folder)["warnings"]
    assert any(line.startswith("node 2 sent nonsense") for line in warnings)
    assert not any(line.startswith(("node 0 sent", "node 1 sent")) for line in warnings)
    told = events_of(folder, "refused")
    assert {event["node"] for event in told} == {2}
    assert {"bad_number", "bad_snapshot", "undecodable"} <= {event["detail"].partition(":")[0] for event in told}
    assert len(told) < MOST_REFUSALS
    assert 'pame_orchestrator_refused_reports_total{reason="bad_number"}' in metrics
    assert is_as_simulated(folder, experiment_of(compute={"step": "20ms"}))
    links = rows_of(folder / "links.csv")
    assert {(row["sender"], row["receiver"]) for row in links} == set(permutations("012", 2))
    assert all(int(row["messages"]) < 1000 for row in links)
    assert (folder / "report.html").stat().st_size > 1000


def _scraped(address: str) -> str:
    text = ""
    with suppress(OSError):
        text = scrape(address)
    return text if "refused_reports_total{" in text else ""


DEEP = pb.Assignment(run=5, nodes=1, periods=[1], snapshot_every=1, problem="[" * 99999)
NONSENSE = [
    pb.ToNode(),
    pb.ToNode(assignment=pb.Assignment(run=5, nodes=2**32 - 1, index=3, edges=[1, 2, 3])),
    pb.ToNode(assignment=DEEP),
    pb.ToNode(start=pb.Start(run=5)),
    pb.ToNode(probe=pb.Probe(run=5, seconds=nan)),
    pb.ToNode(faults=pb.Faults(run=5, plan="{}")),
]


async def test_nodes_survive_an_orchestrator_that_talks_nonsense(tmp_path: Path) -> None:
    runs = served(tmp_path / "runs")
    async with asyncio.timeout(BOUND_S), runs as world, world.nodes("node-0", "node-1", "node-2"):
        for member in await world.control.members.gather(3, BOUND_S):
            for wrong in NONSENSE:
                member.tell(wrong)
        accepted = (await world.submit(text_of(compute={"step": "20ms"}))).accepted
        await until(lambda: world.control.run is not None and world.control.run.phase in ("running", "ending"))
        run = world.control.run
        assert run is not None
        for member in run.indices.living():
            member.tell(pb.ToNode(probe=pb.Probe(run=run.number, seconds=nan)))
            member.tell(pb.ToNode(faults=pb.Faults(run=run.number, plan="{}")))
            strange = pb.Neighbour(index=7, address="127.0.0.1:1")
            member.tell(pb.ToNode(neighbours=pb.Neighbours(run=run.number, neighbours=[strange])))
            member.tell(pb.ToNode(start=pb.Start(run=run.number)))
        events = await world.watch(accepted.run)
        assert events[-1].ended.status == "finished", events[-1]
    log = (tmp_path / "nodes.log").read_text()
    assert "Traceback" not in log
    assert log.count("refused_command") >= 15  # one of them before the run, and four during it, at each of three nodes
