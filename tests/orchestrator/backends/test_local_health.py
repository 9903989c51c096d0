"""Runs on real processes say truly how well they went."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.local import local
from orchestrator.results import Status
from orchestrator.results.health import State
from tests.harness import Watcher
from tests.orchestrator.backends.harness import on_a_ring, running

experiment = partial(on_a_ring, nodes=4)
STOP = {"iterations": 120, "seconds": "60s"}


def test_an_undisturbed_run_is_sound(tmp_path: Path) -> None:
    ending = local(experiment(stop={"iterations": 40}), tmp_path, tmp_path / "run", Watcher())
    assert ending.exact
    assert ending.health is not None
    assert (ending.health.state, ending.health.reason) == (State.SOUND, "")


async def test_a_node_that_dies_by_surprise_degrades_the_run_and_is_named(tmp_path: Path) -> None:
    made = experiment(exchange={"patience": "300ms"}, compute={"step": "20ms"}, stop={"iterations": 100})
    async with running(made, tmp_path / "run") as world:
        struck = await world.at_iteration("node-1", 5)
        await world.kill("node-1")
    health = world.outcome.ending.health
    assert health is not None
    assert health.state is State.DEGRADED
    assert f"node {struck} died, left or fell silent, which was not planned" in health.reason


@pytest.mark.parametrize(
    "sections",
    [
        {"messages": {"loss": 0.4}},
        {"faults": [{"kind": "kill", "nodes": [2], "at": "500ms", "back_after": "500ms"}]},
        {"faults": [{"kind": "kill", "nodes": [2], "at": {"iteration": 30}, "back_after": "500ms"}]},
        {"faults": [{"kind": "link-down", "links": "all", "at": "500ms", "for": "1s"}]},
        {"faults": [{"kind": "pause", "nodes": [1], "at": {"iteration": 20}, "for": "1s"}]},
        {"compute": {"step": "10ms", "stragglers": 0.25, "slowdown": 20}},
    ],
    ids=["loss", "kill", "kill by iteration", "cut", "pause", "straggler"],
)
def test_what_the_plan_does_is_no_degradation(tmp_path: Path, sections: dict[str, Any]) -> None:
    made = experiment(**{"compute": {"step": "20ms"}, "exchange": {"patience": "200ms"}, "stop": STOP, **sections})
    ending = local(made, tmp_path, tmp_path / "run", Watcher())
    assert ending.status is Status.FINISHED
    assert ending.health is not None
    assert (ending.health.state, ending.health.reason) == (State.SOUND, "")


def test_a_network_so_slow_that_no_message_is_in_time_is_broken_and_not_green(tmp_path: Path) -> None:
    made = experiment(
        exchange={"patience": "50ms"}, links={"delay": "700ms"}, compute={"step": "10ms"},
        verify={"when": "never"}, stop={"iterations": 40},
    )  # fmt: skip
    ending = local(made, tmp_path, tmp_path / "run", Watcher())
    assert ending.health is not None
    assert ending.health.state is State.BROKEN
    assert ending.health.reason.startswith("nobody hears anybody")
