"""Real processes that are killed, frozen, replaced and lied to: the run goes on, ends, and says what happened."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import grpc
import numpy as np
import pytest

from contract.rpc import exchange_pb2 as pb
from node.link_stream import PUSH
from node.stream_proof import shown
from node.wire_message import size_limit
from orchestrator.experiment import Experiment
from orchestrator.results import Status
from pame.byte_account import Fate
from pame.mailbox import PER_SENDER
from pame.randomness import Key, Purpose, uniforms
from tests.contract.harness import stream
from tests.harness import until
from tests.orchestrator.backends.harness import (
    MARK,
    all_together,
    answer,
    attached,
    join_of,
    marked,
    new_mark,
    receipts,
    running,
)
from tests.orchestrator.simulated import simulated

VICTIM = "node-2"
ITERATIONS = 400  # so many that what a test does at one of the first comes in time


def experiment(
    step: str = "5ms", iterations: int = ITERATIONS, patience: str = "300ms", **settings: object
) -> Experiment:
    """Five nodes that talk much, and neither wait long nor often for one that is silent."""
    common = {
        "exchange": {"patience": patience, "exclude_after": 2},
        "compute": {"step": step},
        "stop": {"iterations": iterations, "seconds": "60s"},
        "evaluate": {"every": 10},
    }
    return all_together(5, **{**common, **settings})


@pytest.fixture(autouse=True)
def _no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    mark = new_mark()
    monkeypatch.setenv(MARK, mark)
    yield
    assert marked(mark) == {}


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_node_killed_at_a_random_iteration_is_missed_but_does_not_end_the_run(
    tmp_path: Path, seed: int
) -> None:
    at = int(100 * uniforms(Key(seed, Purpose.CANDIDATES), 1)[0])
    async with running(experiment(), tmp_path) as world:
        victim = await world.at_iteration(VICTIM, at)
        os.kill(world.pid(VICTIM), signal.SIGKILL)
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert outcome.happened("died") == [victim]
    disturbances = outcome.run.disturbances
    assert (disturbances.deaths, disturbances.restarts, disturbances.departures) == (1, 0, 0)
    assert victim in outcome.figures.suspects
    assert outcome.figures.node.expired > 0
    others = set(range(5)) - {victim}
    assert {node: k for node, (k, _) in outcome.run.collection.results.items()} == dict.fromkeys(others, ITERATIONS)


async def test_a_run_whose_nodes_all_die_has_failed_and_says_so(tmp_path: Path) -> None:
    async with running(experiment(), tmp_path) as world:
        await world.at_iteration(VICTIM, 5)
        for pid in world.processes.alive().values():
            os.kill(pid, signal.SIGKILL)
    outcome = world.outcome
    assert outcome.ending.status is Status.FAILED
    assert outcome.ending.reason.startswith("every node died: look at")
    assert sorted(outcome.happened("died")) == [0, 1, 2, 3, 4]


async def test_a_frozen_node_is_silent_then_heard_again_and_catches_up(tmp_path: Path) -> None:
    async with running(experiment(step="30ms", iterations=300), tmp_path) as world:
        victim = await world.at_iteration(VICTIM, 10)
        pid = world.pid(VICTIM)
        os.kill(pid, signal.SIGSTOP)
        await until(lambda: world.events("silent"))
        await until(lambda: victim in world.run.totals.figures().suspects)
        os.kill(pid, signal.SIGCONT)
        await until(lambda: world.events("heard again"))
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert (outcome.happened("silent"), outcome.happened("heard again")) == ([victim], [victim])
    assert outcome.run.disturbances.deaths == 0
    assert outcome.figures.node.expired > 0
    assert outcome.run.totals.account().messages(Fate.LATE) > 0
    assert outcome.run.collection.results[victim][0] == 300


async def test_a_node_that_stays_frozen_is_not_waited_for_at_the_end(tmp_path: Path) -> None:
    async with running(experiment(), tmp_path) as world:
        victim = await world.at_iteration(VICTIM, 20)
        os.kill(world.pid(VICTIM), signal.SIGSTOP)
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert outcome.happened("silent") == [victim]
    assert victim in outcome.figures.suspects
    assert set(outcome.run.collection.results) == set(range(5)) - {victim}


@pytest.mark.parametrize("state", ["snapshot", "cold", "neighbours"])
async def test_a_killed_node_comes_back_where_its_neighbours_are_with_the_state_that_was_asked_for(
    tmp_path: Path, state: str
) -> None:
    """A first successor dies as soon as it has its assignment; the second one stays."""
    async with running(experiment(step="20ms", iterations=300, restart={"state": state}), tmp_path) as world:
        victim = await world.at_iteration(VICTIM, 20)
        await world.kill(VICTIM)
        own = world.run.collection.latest[victim].astype("<f8").tobytes()
        async with attached(world.control, join_of(world.control, member=VICTIM).SerializeToString()) as call:
            assignment = (await answer(call, "assignment")).assignment
        assert (assignment.index, assignment.incarnation) == (victim, 1)
        assert assignment.resume.iteration > 0
        expected = {"snapshot": own, "cold": b"", "neighbours": assignment.resume.model}
        assert assignment.resume.model == expected[state]
        if state == "neighbours":
            assert len(assignment.resume.model) == 8 * 30
            assert assignment.resume.model not in (own, bytes(8 * 30))
        await until(lambda: len(world.events("died")) == 2)
        world.start(VICTIM)
        await until(lambda: len(world.events("restarted")) == 2)
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert (outcome.run.disturbances.deaths, outcome.run.disturbances.restarts) == (2, 2)
    assert outcome.happened("restarted") == [victim, victim]
    assert not outcome.happened("refused")
    assert all(state in event["detail"] for event in outcome.events if event["what"] == "restarted")
    totals = outcome.run.totals.by_node()
    assert totals[victim, 2].steps > 0
    assert outcome.run.collection.results[victim][0] == 300
    heard = sum(link.received for (node, _), each in totals.items() if node != victim for link in each.into.values())
    assert heard > 0


async def test_a_newcomer_of_another_name_takes_the_place_of_a_dead_node(tmp_path: Path) -> None:
    async with running(experiment(step="20ms", iterations=250), tmp_path) as world:
        victim = await world.at_iteration(VICTIM, 10)
        await world.kill(VICTIM)
        world.start("newcomer")
        await until(lambda: world.events("restarted"))
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert outcome.happened("restarted") == [victim]
    assert "newcomer" in next(event["detail"] for event in outcome.events if event["what"] == "restarted")
    assert outcome.run.collection.results[victim][0] == 250


async def test_a_new_process_of_a_frozen_nodes_name_takes_its_place_and_the_frozen_one_is_not_left_behind(
    tmp_path: Path,
) -> None:
    async with running(experiment(step="20ms", iterations=200), tmp_path) as world:
        victim = await world.at_iteration(VICTIM, 10)
        os.kill(world.pid(VICTIM), signal.SIGSTOP)
        world.start(VICTIM)
        await until(lambda: world.events("restarted"))
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert outcome.happened("restarted") == [victim]
    assert outcome.run.collection.results[victim][0] == 200


async def test_a_node_told_to_leave_finishes_says_goodbye_and_exits_with_0(tmp_path: Path) -> None:
    async with running(experiment(), tmp_path) as world:
        victim = await world.at_iteration(VICTIM, 10)
        pid = world.pid(VICTIM)
        os.kill(pid, signal.SIGTERM)
        await until(lambda: pid in world.processes.codes())
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, False)
    assert (outcome.happened("left"), outcome.happened("died")) == ([victim], [])
    assert (outcome.run.disturbances.departures, outcome.run.disturbances.deaths) == (1, 0)
    assert outcome.codes[pid] == 0
    left_at, _ = outcome.run.collection.results[victim]
    assert 10 <= left_at < ITERATIONS


async def test_the_mailbox_of_a_slow_node_stays_within_its_bound(tmp_path: Path) -> None:
    slow = experiment(
        iterations=250, period=1, patience="10ms", compute={"step": "2ms", "stragglers": 0.2, "slowdown": 100}
    )
    async with running(slow, tmp_path) as world:
        await world.at_iteration(VICTIM, 1)
    outcome = world.outcome
    [index] = outcome.run.setting.compute.slow_nodes(outcome.run.setting.seed, 5)
    into = outcome.run.totals.by_node()[index, 0].into.values()
    waiting = [link.received - link.aggregated - link.late - link.evicted for link in into]
    assert all(0 <= left <= PER_SENDER for left in waiting), waiting
    assert sum(link.evicted for link in into) > 0
    assert not outcome.ending.exact


async def test_hostile_clients_are_refused_and_counted_and_the_models_stay_those_of_the_simulator(
    tmp_path: Path,
) -> None:
    honest = experiment(step="20ms", iterations=100, patience="60s")
    async with running(honest, tmp_path) as world:
        await world.at_iteration(VICTIM, 5)
        member = world.control.members.get(VICTIM)
        assert member is not None
        async with attached(world.control, join_of(world.control, token="guessed").SerializeToString()) as call:
            assert (await answer(call, "refused")).refused.detail
        limit = size_limit({"w": 30})
        bad = [b"\xff" * 50, b"", bytes(100 * limit), pb.NodeMessage(run=world.run.number ^ 2).SerializeToString()]
        bad.append(pb.NodeMessage(run=world.run.number, sender=77).SerializeToString())
        async with grpc.aio.insecure_channel(member.address) as channel:
            secret = shown(world.run.common.secret, member.address)  # whatever else they know, these do not know that
            told = await receipts(channel, PUSH, secret, *bad)
            assert [refused.number for receipt in told for refused in receipt.refused] == [1, 2, 3, 4, 5]
            push = stream(channel, PUSH, pb.Receipt, secret)
            await push.write(bytes(65 * 2**20))
            assert await push.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    outcome = world.outcome
    assert (outcome.ending.status, outcome.ending.exact) == (Status.FINISHED, True)
    assert outcome.figures.node.strangers == 5
    assert outcome.refused_joins == {"wrong_token": 1}
    expected = simulated(honest, tmp_path).models
    assert all(np.array_equal(model, expected[node]) for node, (_, model) in outcome.run.collection.results.items())
    assert len(outcome.run.collection.results) == 5
