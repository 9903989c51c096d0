"""Faults of a plan on local processes: those by iteration to the last bit as in the simulator, all of them recorded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends import BACKENDS
from orchestrator.backends.local import local
from orchestrator.backends.simulate import simulate
from orchestrator.control.manual_faults import inject
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults import FaultError
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.report.fault_shading import shades
from orchestrator.results import Status
from orchestrator.results.fault_axes import course
from orchestrator.results.read import read_run
from pame.byte_account import Fate
from pame.fault_effects import ContainerKillEffect, CutEffect, DegradeEffect, FaultEvent, SlowEffect, Window
from pame.fault_plan_text import plan_lines, read_plan
from tests.command import lines_of
from tests.harness import Watcher, until
from tests.orchestrator.backends.harness import experiment_of, running, same_as_simulated
from tests.orchestrator.harness import events_of, summary_of
from tests.orchestrator.report.oracle import unwrapped

LINEAR = {"kind": "linear", "n": 40, "samples": 40, "test_samples": 30}
PAME = {"kind": "pame", "participation": 0.5, "support": 0.3}
BY_ITERATION: dict[str, dict[str, Any]] = {
    "link-down": {"kind": "link-down", "links": "random(40%)", "at": {"iteration": 5}, "for": {"iterations": 20}},
    "partition": {"kind": "partition", "shape": "halves", "at": {"iteration": 10}, "for": {"iterations": 15}},
    "flap": {"kind": "flap", "links": "of(0)", "period": {"iterations": 6}, "at": {"iteration": 3}},
    "message-loss": {"kind": "message-loss", "links": "all", "loss": 0.3, "at": {"iteration": 8}},
}


def faulty(*faults: dict[str, Any], **settings: Any) -> Experiment:
    base = {"nodes": 8, "topology": {"kind": "random-regular", "degree": 4}, "problem": LINEAR, "algorithm": PAME}
    return experiment_of(**base | {"stop": {"iterations": 40}} | settings, faults=list(faults) or None)


@pytest.mark.parametrize("kind", BY_ITERATION)
@pytest.mark.parametrize("algorithm", [PAME, {"kind": "dpsgd", "eta": 0.05}], ids=lambda spec: spec["kind"])
def test_faults_by_iteration_have_the_bits_of_the_simulator(
    tmp_path: Path, kind: str, algorithm: dict[str, Any]
) -> None:
    experiment = faulty(BY_ITERATION[kind], algorithm=algorithm)
    ending, account = same_as_simulated(experiment, tmp_path)
    assert ending.iterations == 40
    assert account.messages(Fate.LOST) > 0
    assert read_plan((tmp_path / "run" / "plan.jsonl").read_text()) == make_network_setting(experiment, tmp_path).plan


def test_a_partition_lets_both_halves_go_on_and_heals(tmp_path: Path) -> None:
    """16 nodes in halves for 60 iterations: apart they drift away from each other, together they come closer again."""
    experiment = faulty(
        {"kind": "partition", "shape": "halves", "at": {"iteration": 30}, "for": {"iterations": 60}},
        nodes=16, topology={"kind": "random-regular", "degree": 8}, period=1,
        stop={"iterations": 200}, evaluate={"every": 5},
        algorithm={**PAME, "support": 0.5, "step": {"kind": "fixed", "eta": 0.05, "gamma": 1.01}},
        problem={**LINEAR, "truth_shift": 1.0},
    )  # fmt: skip
    watcher = Watcher()
    ending = local(experiment, tmp_path, tmp_path / "run", watcher)
    assert (ending.status, ending.iterations) == (Status.FINISHED, 200)
    consensus = {point.iteration: point.consensus for point in watcher.points if point.by == "iteration"}
    before, worst, after = consensus[30], max(consensus[k] for k in range(60, 91, 5)), consensus[200]
    assert worst > before
    assert after < before
    records = [record for record in watcher.records if 35 <= record.iteration < 85]
    assert {record.node for record in records if record.received} == set(range(16))  # nobody is alone
    assert {event["node"] for event in events_of(tmp_path / "run", "fault begins")} == set(range(16))
    assert all(event["iteration"] == 30 for event in events_of(tmp_path / "run", "fault begins"))
    assert all(event["iteration"] == 90 for event in events_of(tmp_path / "run", "fault ends"))


def test_nodes_are_paused_slowed_and_killed_as_planned_and_the_run_ends_healed(tmp_path: Path) -> None:
    experiment = faulty(
        {"kind": "pause", "nodes": [2], "at": "300ms", "for": "600ms"},
        {"kind": "kill", "nodes": [5], "at": "500ms", "back_after": "500ms"},
        {"kind": "straggler", "nodes": [1], "factor": 4, "at": "200ms", "for": "500ms"},
        {"kind": "link-down", "links": ["0-1"], "at": "100ms", "for": "300ms"},
        compute={"step": "20ms"}, stop={"iterations": 120}, exchange={"patience": "1s"},
    )  # fmt: skip
    folder = tmp_path / "run"
    ending = local(experiment, tmp_path, folder, Watcher())
    assert (ending.status, ending.exact) == (Status.FINISHED, False)
    begun = {(event["number"], event["node"]): event for event in events_of(folder, "fault begins")}
    ended = {(event["number"], event["node"]): event for event in events_of(folder, "fault ends")}
    assert begun.keys() >= {(0, 2), (1, 5), (2, 1)}
    assert ended.keys() >= {(0, 2), (2, 1)}
    assert begun[0, 2]["mechanism"] == begun[1, 5]["mechanism"] == "supervisor"
    assert begun[2, 1]["mechanism"] == "in-process"
    for event in begun.values():
        assert event["seconds"] >= event["planned"]
    assert ended[0, 2]["seconds"] >= 0.9
    assert [event["node"] for event in events_of(folder, "died")] == [5]
    assert [event["node"] for event in events_of(folder, "restarted")] == [5]
    assert not events_of(folder, "fault failed") + events_of(folder, "refused")
    assert summary_of(folder)["network"]["restarts"] == 1


def test_nodes_are_stopped_at_their_iteration_once_and_the_run_goes_on(tmp_path: Path) -> None:
    """Everybody waits for who is killed: it comes back where they are, at the iteration at which it was killed."""
    experiment = faulty(
        {"kind": "pause", "nodes": [2], "at": {"iteration": 10}, "for": "600ms"},
        {"kind": "kill", "nodes": [3], "at": {"iteration": 20}, "back_after": "200ms"},
        {"kind": "restart", "nodes": [1], "at": {"iteration": 30}, "back_after": "200ms"},
        nodes=4, topology={"kind": "complete"}, algorithm={"kind": "dpsgd", "eta": 0.05}, period=1,
        compute={"step": "5ms"}, stop={"iterations": 45}, exchange={"patience": "20s"},
    )  # fmt: skip
    folder, watcher = tmp_path / "run", Watcher()
    ending = local(experiment, tmp_path, folder, watcher)
    assert (ending.status, ending.exact) == (Status.FINISHED, False)
    begun = [(e["number"], e["node"], e["iteration"], e["planned"]) for e in events_of(folder, "fault begins")]
    assert begun == [(n, node, k, {"iteration": k}) for n, node, k in ((0, 2, 10), (1, 3, 20), (2, 1, 30))]
    [paused], [ended] = (
        [e for e in events_of(folder, f"fault {what}") if e["number"] == 0] for what in ("begins", "ends")
    )
    assert ended["iteration"] == 10
    assert ended["seconds"] - paused["seconds"] >= 0.6
    assert [event["node"] for event in events_of(folder, "died")] == [3]
    assert [event["node"] for event in events_of(folder, "restarted")] == [3, 1]
    assert not events_of(folder, "fault failed") + events_of(folder, "refused")
    killed = [record.iteration for record in watcher.records if record.node == 3]
    assert sorted(set(killed)) == list(range(45))
    assert killed.count(20) == 1  # it was stopped before it began


def test_a_run_that_ends_before_a_fault_says_so_and_shades_only_what_happened(tmp_path: Path) -> None:
    experiment = faulty(
        {"kind": "straggler", "nodes": [1], "factor": 2, "at": {"iteration": 5}, "for": {"iterations": 10}},
        {"kind": "kill", "nodes": [2], "at": "3000s", "back_after": "1s"},
        {"kind": "link-down", "links": ["0-1"], "at": {"iteration": 40}, "for": {"iterations": 5}},
        nodes=4, topology={"kind": "ring"}, compute={"step": "5ms"},
    )  # fmt: skip
    folder = tmp_path / "run"
    ending = local(experiment, tmp_path, folder, Watcher())
    sentence = "2 of 3 faults did not happen: the run ended before 3000 s and iteration 40"
    assert ending.faults is not None
    assert (ending.status, ending.faults.sentence) == (Status.FINISHED, sentence)
    assert (ending.faults.happened, ending.faults.failed, ending.faults.never_began) == (1, 0, 2)
    assert summary_of(folder)["warnings"][0] == sentence
    report = unwrapped((folder / "report.html").read_text())
    assert report.index(sentence) < report.index('class="tiles"')
    run = read_run(folder)
    shading = shades(run.faults, course(run.curve, run.summary.seconds, run.summary.iterations))
    assert {spell.fault for spans in shading.spans.values() for spell, _ in spans} == {"straggler"}


@pytest.mark.parametrize(
    ("fault", "happened"),
    [
        ({"kind": "kill", "nodes": [2], "at": {"iteration": 20}}, True),
        ({"kind": "pause", "nodes": [2], "at": {"iteration": 39}, "for": "1s"}, True),
        ({"kind": "pause", "nodes": [2], "at": {"iteration": 40}, "for": "1s"}, False),
        ({"kind": "message-loss", "links": "all", "loss": 0.5, "at": {"iteration": 39}}, True),
        ({"kind": "message-loss", "links": "all", "loss": 0.5, "at": {"iteration": 40}}, False),
        ({"kind": "link-down", "links": ["0-1"], "at": "50ms", "for": "50ms"}, True),
        ({"kind": "link-down", "links": ["0-1"], "at": "20s", "for": "1s"}, False),
    ],
)
def test_the_simulator_says_what_did_not_happen_too(tmp_path: Path, fault: dict[str, Any], happened: bool) -> None:
    experiment = faulty(fault, nodes=4, topology={"kind": "ring"}, compute={"step": "10ms"})
    ending = simulate(experiment, tmp_path, tmp_path / "run", Watcher())
    assert ending.faults is not None
    assert (ending.faults.happened, ending.faults.never_began) == (int(happened), int(not happened))
    untimed = "at" in fault and isinstance(fault["at"], dict) and fault["kind"] == "message-loss"
    if untimed:
        experiment = faulty(fault, nodes=4, topology={"kind": "ring"}, simulate={"driver": "lock-step"})
        in_lock_step = simulate(experiment, tmp_path, tmp_path / "lock-step", Watcher())
        assert in_lock_step.faults is not None
        assert in_lock_step.faults.happened == int(happened)


def test_packets_that_the_local_backend_cannot_lose_are_refused_before_anything_begins(tmp_path: Path) -> None:
    lossy = faulty({"kind": "lossy", "links": "all", "loss": 0.1, "at": "1s", "for": "1s"})
    with pytest.raises(FaultError, match=r"lossy: packets from node 0 to node . cannot be lost here"):
        BACKENDS["local"].check(lossy, tmp_path)


async def test_a_node_that_comes_back_knows_of_faults_by_hand(tmp_path: Path) -> None:
    slow = FaultEvent(7, "straggler", SlowEffect((2,), 1.5), Window(0.0))
    experiment = faulty(compute={"step": "20ms"}, stop={"iterations": 150}, exchange={"patience": "1s"})
    folder = tmp_path / "run"
    async with running(experiment, folder) as world:
        index = await world.at_iteration("node-2", 5)
        inject(world.run, [replace(slow, effect=SlowEffect((index,), 1.5))])
        await until(lambda: world.events("fault begins"))
        await world.kill("node-2")
        world.start("node-2")
        await until(lambda: len(world.events("fault begins")) == 2)
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED
    assert [event.number for event in read_plan((folder / "plan.jsonl").read_text())] == [7]


async def test_a_fault_by_hand_that_nobody_can_carry_out_is_refused_and_is_not_in_the_plan(tmp_path: Path) -> None:
    async with running(faulty(compute={"step": "20ms"}), tmp_path / "run") as world:
        await world.at_iteration("node-2", 2)
        with pytest.raises(FaultError, match="container-kill needs the Docker socket: start with"):
            inject(world.run, [FaultEvent(0, "container-kill", ContainerKillEffect((1,)), Window(0.0, 1.0))])
        assert world.run.plan == ()
    outcome = world.outcome
    assert outcome.ending.exact


async def test_packets_that_cannot_be_lost_are_refused_by_hand_and_hurt_no_node(tmp_path: Path) -> None:
    lossy = FaultEvent(0, "lossy", DegradeEffect(((0, 1), (1, 0)), loss=0.1), Window(0.0, 1.0))
    async with running(faulty(compute={"step": "20ms"}), tmp_path / "run") as world:
        await world.at_iteration("node-2", 2)
        with pytest.raises(FaultError, match=r"lossy: packets from node 0 to node 1 cannot be lost .*message-loss"):
            inject(world.run, [lossy])
        assert world.run.plan == ()
        world.run.lossless.clear()  # as if nobody had looked: the nodes themselves say no, and go on
        inject(world.run, [lossy])
        await until(lambda: len(world.events("fault failed")) == 2)
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED
    assert not outcome.happened("died")
    assert sorted(outcome.happened("fault failed")) == [0, 1]
    assert not outcome.happened("fault begins")


async def test_a_cut_by_iteration_that_comes_by_hand_is_a_surprise_to_an_algorithm_with_replicas(
    tmp_path: Path,
) -> None:
    """It has computed from the plan what will be lost, and is told of this when it is: both ends begin anew then."""
    cut = FaultEvent(0, "link-down", CutEffect(((0, 1), (1, 0))), Window(150, 170, "iterations"))
    experiment = faulty(
        nodes=4, topology={"kind": "complete"}, algorithm={"kind": "choco"}, period=1,
        compute={"step": "20ms"}, stop={"iterations": 210}, exchange={"patience": "2s"},
    )  # fmt: skip
    async with running(experiment, tmp_path / "run") as world:
        await world.at_iteration("node-2", 5)
        inject(world.run, [cut])
        await until(lambda: len(world.events("fault ends")) == 2)
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED
    assert {event["iteration"] for event in outcome.events if event["what"] == "fault begins"} == {150}
    assert outcome.run.totals.account().desynchronised == 2, "each end saw once that something was missing"
    BACKENDS["simulate"].run(experiment, tmp_path, tmp_path / "whole", Watcher())
    struck, whole = (lines_of(tmp_path / name / "curve.jsonl")[-1]["consensus"] for name in ("run", "whole"))
    assert struck < 1.1 * whole


def test_a_plan_that_is_replayed_is_the_very_same(tmp_path: Path) -> None:
    experiment = faulty(BY_ITERATION["link-down"], {"kind": "churn", "per_minute": 20, "until": "2s"})
    setting = make_network_setting(experiment, tmp_path)
    (tmp_path / "plan.jsonl").write_text("\n".join(plan_lines(setting.plan)))
    again = experiment.model_copy(update={"faults": None, "plan": "plan.jsonl"})
    assert make_network_setting(again, tmp_path).plan == make_network_setting(experiment, tmp_path).plan
