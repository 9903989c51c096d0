"""Wrong commands of an orchestrator, 25,000 at a time, 200,000 in all: a node takes them as commands, or refuses them.

Made of real ones by mutation; the seed is fixed.
"""

import asyncio
import json
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from contract.assignment import Assigned, Peer, assign, assigned, describe, missing_data, neighbour
from contract.data_delivery import ShardAssembly, ShardFormat, data_piece
from contract.refusals import refusal_name
from contract.rpc import control_pb2 as pb
from contract.rpc import refusal_pb2
from node.commands import check_neighbours, check_probe, decoded, on_one_line, read_faults
from node.server import ExchangeServer
from node.session import Session
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from pame.errors import PameError
from pame.fault_plan_text import plan_lines
from pame.problems import ProblemSpec
from pame.resolved_run import ResolvedRun
from tests.contract.builders import mutated
from tests.node.harness import assigned_node
from tests.pame.vision.builders import data_set, on_stripes

pytestmark = pytest.mark.edge

PARTS, EACH = 8, 25_000
KINDS = ("assignment", "neighbours", "faults", "probe", "data_piece")
OBEYED = 3000
RUN = 77
LOGISTIC = {"kind": "logistic", "n": 9, "samples": 6, "batch": 2, "test_samples": 3}
SMALL = {
    "nodes": 5,
    "topology": {"kind": "ring"},
    "problem": {"kind": "linear", "n": 12, "samples": 5, "test_samples": 3},
}
EXPERIMENTS: list[dict[str, object]] = [
    {"links": {"preset": "wan", "pairs": {"0-1": {"delay": "3ms"}}}, "compute": {"step": "10ms", "stragglers": 0.2}},
    {"exchange": {"mode": "free", "spare": 1, "patience": "adaptive"}},
    {"algorithm": {"kind": "choco"}},
    {"algorithm": {"kind": "nids"}, "problem": LOGISTIC},
    {"algorithm": {"kind": "epidemic"}, "messages": {"support": "auto", "values": "float32", "loss": 0.1}},
    {
        "faults": [
            {"kind": "link-down", "links": "all", "at": "1s", "for": "2s"},
            {"kind": "pause", "nodes": [1], "at": {"iteration": 3}, "for": "1s"},
            {"kind": "straggler", "nodes": [2], "factor": 3.0, "at": "1s"},
        ]
    },
]  # fmt: skip


def corpus() -> list[pb.ToNode]:
    made: list[pb.ToNode] = []
    for settings in EXPERIMENTS:
        experiment = Experiment.model_validate_json(json.dumps(SMALL | settings))
        setting = make_network_setting(experiment, Path())
        common = describe(RUN, setting, experiment.problem)
        peers = [Peer(j, f"127.0.0.1:{7000 + j}", 0, "") for j in setting.contacts(0)]
        first = assign(common, 0, 0, peers, links=setting.links)
        again = assign(common, 0, 2, peers, 7, np.linspace(-1, 1, setting.problem.n), 1.5, setting.links)
        made += [pb.ToNode(assignment=first), pb.ToNode(assignment=again)]
        if setting.plan:
            made.append(pb.ToNode(faults=pb.Faults(run=RUN, plan="\n".join(plan_lines(setting.plan)))))
    made.append(pb.ToNode(assignment=assign(describe(RUN, *vision()), 0, 0, peers)))
    moved = pb.Neighbours(run=RUN, neighbours=[neighbour(Peer(1, "127.0.0.1:9", 3, "node-1"))])
    refused = pb.Refused(refusal=refusal_pb2.REFUSAL_BAD_JOIN, detail="no")
    timing = pb.Probe(run=RUN, number=1, kind=pb.Probe.KIND_TIMING, peer=1, seconds=0.5, echo=True)
    return [
        *made,
        pb.ToNode(welcome=pb.Welcome(member="node-0")),
        pb.ToNode(refused=refused),
        pb.ToNode(start=pb.Start(run=RUN)),
        pb.ToNode(neighbours=moved),
        pb.ToNode(stop=pb.Stop(run=RUN, iteration=40)),
        pb.ToNode(dismissed=pb.Dismissed(reason="the run is over")),
        pb.ToNode(probe=timing),
        pb.ToNode(data_piece=data_piece(RUN, 0, bytes(25 * 68))),
    ]


def vision() -> tuple[ResolvedRun, ProblemSpec]:
    """Of a data set that no node has."""
    settings = SMALL | {"problem": {"kind": "image-classification", "data": "stripes", "model": {"kind": "softmax"}}}
    experiment = Experiment.model_validate_json(json.dumps(settings))
    return make_network_setting(experiment, Path(), on_stripes), experiment.problem


CORPUS = corpus()
SHARD = ShardFormat(data_set().facts, np.dtype("u1"), 25)
GOOD = assigned(CORPUS[0].assignment)


def taken(message: pb.ToNode) -> Assigned | None:
    """What a node makes of it before it acts."""
    match message.WhichOneof("kind"):
        case "assignment":
            return assigned(message.assignment) if missing_data(message.assignment) is None else None
        case "data_piece":
            ShardAssembly(SHARD).add(message.data_piece)
        case "neighbours":
            check_neighbours(message.neighbours, GOOD)
        case "faults":
            read_faults(message.faults, GOOD)
        case "probe":
            check_probe(message.probe)
        case "refused":
            assert on_one_line(message.refused.detail).isprintable()
        case "dismissed":
            assert on_one_line(message.dismissed.reason).isprintable()
    return None


async def room() -> bool:
    return True


def prepared(part: Assigned) -> None:
    """Its data drawn, its algorithm made: a node is ready."""
    assert Session(part, ExchangeServer("127.0.0.1", 0), lambda _: None, room).ready().run == part.run


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_commands_are_taken_or_refused(part: int) -> None:
    random, outcomes = Random(f"commands {part}"), Counter[str]()
    for _ in range(EACH):
        message = decoded(mutated(random, CORPUS))
        kind = str(message.WhichOneof("kind"))
        try:
            found = taken(message)
            if found is not None and found.setting.problem.n < 1000 and outcomes["assignment taken"] % 10 == 0:
                prepared(found)
            outcomes[f"{kind} taken"] += 1
        except PameError as error:
            outcomes[f"{kind} refused" if str(error) else "without a word"] += 1
    assert not outcomes["without a word"]
    assert min(outcomes[f"{kind} {what}"] for kind in KINDS for what in
               ("taken", "refused")) > 0, outcomes  # fmt: skip


async def test_a_node_carries_out_or_refuses_mutated_commands_during_a_run() -> None:
    """Not probes, which would send to whatever addresses a mutation makes; links are there only after a start."""
    kinds = ("neighbours", "faults", "stop")
    commands = [message for message in CORPUS if message.WhichOneof("kind") in kinds]
    random, outcomes = Random("obey"), Counter[str]()
    async with assigned_node(CORPUS[0]) as node:
        for _ in range(OBEYED):
            message = decoded(mutated(random, commands))
            if (kind := message.WhichOneof("kind")) not in kinds:
                continue
            try:
                await node._obey(message)
                outcomes[f"{kind} taken"] += 1
            except PameError:
                outcomes[f"{kind} refused"] += 1
            if node._session is None:
                await node._handle(CORPUS[0])
    assert min(outcomes[what] for what in ("neighbours taken", "faults taken", "stop taken")) > 100, outcomes
    assert min(outcomes["neighbours refused"], outcomes["faults refused"]) > 50, outcomes


async def test_a_command_that_fails_as_nobody_foresaw_costs_one_line_and_not_the_node(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    def is_cancelled(*_: object) -> None:
        raise asyncio.CancelledError

    [faults] = [message for message in CORPUS if message.WhichOneof("kind") == "faults"]
    async with assigned_node(CORPUS[0]) as node:
        caplog.clear()
        monkeypatch.setattr(Session, "add_faults", fails)
        await node._handle(faults)
        assert node.refused_commands == 1
        [record] = caplog.records
        assert (record.levelname, record.name, record.getMessage()) == ("WARNING", "node.process", "refused_command")
        fields = vars(record)["fields"]
        assert fields["number"] == 1
        assert fields["reason"].startswith("ZeroDivisionError: division by zero (node/process.py, ")
        monkeypatch.setattr(Session, "add_faults", is_cancelled)
        with pytest.raises(asyncio.CancelledError):
            await node._handle(faults)


EXTREMES: list[object] = [0, -1, 2**31, 2**63, 10**30, 0.5, -0.0, 5e-324, 1e300, float("nan"), float("inf"), None, True]
EXTREMES += ["", "x", [], {}, {"kind": "x"}, [1]]


@pytest.mark.parametrize("which", range(0, len(EXPERIMENTS) * 2, 2))
def test_extreme_parameters_of_specs_and_rules_are_taken_or_refused(which: int) -> None:
    message, outcomes = CORPUS[which].assignment, Counter[str]()
    for name in ("problem", "algorithm", "exchange", "messages", "compute", "link", "stop"):
        spec = json.loads(getattr(message, name))
        for key in spec:
            for value in EXTREMES:
                wrong = pb.Assignment()
                wrong.CopyFrom(message)
                setattr(wrong, name, json.dumps(spec | {key: value}))
                try:
                    prepared(assigned(wrong))
                    outcomes["taken"] += 1
                except PameError:
                    outcomes["refused"] += 1
    assert outcomes["refused"] > outcomes["taken"] > 0


def test_a_node_must_have_the_memory_for_its_data() -> None:
    wrong = pb.Assignment()
    wrong.CopyFrom(CORPUS[0].assignment)
    wrong.problem = json.dumps(json.loads(wrong.problem) | {"n": 10**9, "samples": 10**9})
    with pytest.raises(PameError, match="this machine has"):
        assigned(wrong)


def test_a_refusal_with_an_unknown_number_still_has_a_name() -> None:
    assert refusal_name(9999) == "refusal_9999"
    assert refusal_name(refusal_pb2.REFUSAL_BUSY) == "busy"
