"""Commands that make no sense end nothing but themselves: real nodes refuse them, and then take part in a run."""

import asyncio
from math import nan
from pathlib import Path

from contract.rpc import control_pb2 as pb
from orchestrator.backends.processes import NodeProcesses
from tests.orchestrator.control.harness import TOKEN, served, text_of

BOUND_S = 100.0
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
    async with asyncio.timeout(BOUND_S), served(tmp_path / "runs") as world:
        with NodeProcesses(tmp_path / "nodes.log") as processes:
            for name in ("node-0", "node-1", "node-2"):
                processes.start(name, world.control.address, TOKEN)
            for member in await world.control.members.gather(3, BOUND_S):
                for wrong in NONSENSE:
                    member.tell(wrong)
            accepted = (await world.submit(text_of(compute={"step": "20ms"}))).accepted
            async with asyncio.timeout(BOUND_S):
                while (run := world.control.run) is None or run.phase not in ("running", "ending"):
                    await asyncio.sleep(0.02)
            for member in run.indices.living():
                member.tell(pb.ToNode(probe=pb.Probe(run=run.number, seconds=nan)))
                member.tell(pb.ToNode(faults=pb.Faults(run=run.number, plan="{}")))
                strange = pb.Neighbour(index=7, address="127.0.0.1:1")
                member.tell(pb.ToNode(neighbours=pb.Neighbours(run=run.number, neighbours=[strange])))
                member.tell(pb.ToNode(start=pb.Start(run=run.number)))
            events = await world.watch(accepted.run)
            assert events[-1].ended.status == "finished", events[-1]
            await world.control.close("the test is over")
            await processes.wait()
    log = (tmp_path / "nodes.log").read_text()
    assert "Traceback" not in log
    assert log.count("refused_command") >= 15  # one of them before the run, and four during it, at each of three nodes
