"""How runs on real processes end: with the right models, the right iteration, and nothing claimed that is not so."""

import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.backends.local import local
from orchestrator.results import Status
from tests.harness import Watcher, until
from tests.orchestrator.backends.harness import Relay, on_a_ring, running
from tests.orchestrator.simulated import is_as_simulated, simulated

experiment = partial(on_a_ring, nodes=6)


@pytest.mark.parametrize("rule", [{"target": 0.2}, {"paper": {"tolerance": 0.01, "every": 1}}], ids=["target", "paper"])
def test_a_run_that_ends_at_a_value_ends_with_the_models_of_that_iteration(
    tmp_path: Path, rule: dict[str, Any]
) -> None:
    # no nominal step time: the nodes run ahead of whoever judges their snapshots
    made = experiment(evaluate={"every": 1}, stop={"iterations": 400, **rule})
    ending = local(made, tmp_path, tmp_path / "run", Watcher())
    expected = simulated(made, tmp_path)
    assert 1 < ending.iterations < 400
    assert (ending.iterations, ending.reason, ending.exact) == (expected.iterations, expected.reason, True)
    assert np.load(tmp_path / "run" / "models.npy").tobytes() == expected.models.tobytes()


async def test_a_run_whose_time_is_over_says_how_far_it_came_and_claims_no_more(tmp_path: Path) -> None:
    made = experiment(compute={"step": "20ms"}, stop={"iterations": 100_000, "seconds": "1500ms"})
    async with running(made, tmp_path / "run") as world:
        pass
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED
    assert "seconds are over" in outcome.ending.reason
    assert 0 < outcome.ending.iterations < 200
    assert outcome.ending.seconds == pytest.approx(1.5, abs=1.5)
    results = outcome.run.collection.results
    assert outcome.ending.exact == all(k == outcome.ending.iterations for k, _ in results.values())
    # each result is labelled with the iteration whose model it is
    for node, (k, model) in results.items():
        until_k = simulated(experiment(stop={"iterations": max(k, 1)}), tmp_path)
        assert model.tobytes() == until_k.models[node].tobytes()


@pytest.mark.parametrize(
    ("seconds", "reason", "beyond"), [("1s", "1 second is over", 0), ("4s", "4 seconds are over", 300)]
)
def test_a_run_with_seconds_alone_says_how_many_and_goes_on_beyond_300_iterations(
    tmp_path: Path, seconds: str, reason: str, beyond: int
) -> None:
    made = experiment(nodes=2, topology={"kind": "complete"}, stop={"seconds": seconds})
    ending = local(made, tmp_path, tmp_path / "run", Watcher())
    assert (ending.status, ending.reason) == (Status.FINISHED, reason)
    assert ending.iterations > beyond


async def test_a_broken_connection_to_the_orchestrator_kills_nobody(tmp_path: Path) -> None:
    relay = Relay()
    made = experiment(compute={"step": "10ms"}, stop={"iterations": 300, "seconds": "60s"})
    async with running(made, tmp_path / "run", relay) as world:
        await world.at_iteration("node-1", 20)
        relay.cut()
        await until(lambda: len(world.events("back")) == 6)
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED
    assert outcome.ending.iterations == 300
    assert sorted(outcome.happened("back")) == list(range(6))
    assert (outcome.run.disturbances.deaths, outcome.run.disturbances.restarts) == (0, 0)
    assert not outcome.happened("refused")
    assert not outcome.ending.exact
    models = np.stack([model for _, (_, model) in sorted(outcome.run.collection.results.items())])
    assert models.tobytes() == simulated(experiment(stop={"iterations": 300}), tmp_path).models.tobytes()


async def test_a_node_whose_only_neighbour_dies_starves_suspects_it_and_goes_on(tmp_path: Path) -> None:
    made = experiment(
        nodes=2, topology={"kind": "complete"}, exchange={"patience": "200ms", "exclude_after": 3},
        compute={"step": "5ms"}, stop={"iterations": 600, "seconds": "60s"},
    )  # fmt: skip
    async with running(made, tmp_path / "run") as world:
        await world.at_iteration("node-1", 10)
        os.kill(world.pid("node-1"), signal.SIGKILL)
    outcome = world.outcome
    assert outcome.ending.status is Status.FINISHED
    assert outcome.happened("died") == [1]
    assert outcome.run.disturbances.deaths == 1
    assert outcome.figures.suspects == (1,)
    assert 3 <= outcome.figures.node.expired < 50  # three in a row, then nobody waits for it any more
    assert outcome.run.collection.starved >= 30
    assert not outcome.ending.exact


def test_a_run_with_a_large_model_hears_its_nodes_while_it_evaluates(tmp_path: Path) -> None:
    # evaluating takes longer than anything else here; nobody may seem silent because of it
    problem = {"kind": "logistic", "n": 20_000, "samples": 10, "test_samples": 3_000}
    made = experiment(problem=problem, evaluate={"every": 2}, stop={"iterations": 10, "seconds": "100s"})
    ending = local(made, tmp_path, tmp_path / "run", Watcher())
    assert (ending.status, ending.iterations, ending.exact) == (Status.FINISHED, 10, True)
    assert is_as_simulated(tmp_path / "run", made)
