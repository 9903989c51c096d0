"""Faults that strike containers are refused before a run begins, with what to do, where there are none."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orchestrator.control.container_faults import require_docker
from orchestrator.control.containers import DOCKER_VARIABLE
from orchestrator.control.recorded_run import make_order
from orchestrator.experiment.faults import FaultError
from pame.fault_effects import ContainerKillEffect, CpuQuotaEffect, FaultEvent, KillEffect, Window
from tests.orchestrator.control.harness import experiment_of, served, text_of

PAUSE = {"kind": "pause", "nodes": [0], "for": "1s"}
CONTAINERS: Sequence[dict[str, Any]] = (
    {"kind": "container-kill", "nodes": [1], "back_after": "1s"},
    {"kind": "container-restart", "nodes": [1]},
    {"kind": "cpu-quota", "nodes": [1], "cpu": 0.5},
)
NO_SOCKET = "needs the Docker socket: start with `docker compose -f docker-compose.yml -f deploy/compose.chaos.yml up`"


@pytest.fixture(autouse=True)
def _without_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DOCKER_VARIABLE, raising=False)


@pytest.mark.parametrize("fault", CONTAINERS, ids=lambda fault: fault["kind"])
async def test_a_submission_that_needs_the_socket_is_refused_and_leaves_nothing(
    fault: dict[str, Any], tmp_path: Path
) -> None:
    async with asyncio.timeout(60), served(tmp_path) as world:
        answer = await world.submit(text_of(faults=[PAUSE, fault]))
        assert answer.denied.detail == f"faults.1: {fault['kind']} {NO_SOCKET}"
        assert (await world.submit(text_of(faults=[PAUSE]))).accepted.folder
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("backend", ["local", "netns"])
def test_processes_have_no_containers(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DOCKER_VARIABLE, "unix:///run/docker.sock")
    with pytest.raises(FaultError) as refused:
        make_order(experiment_of(faults=[CONTAINERS[0]]), tmp_path, backend)
    assert str(refused.value) == (
        "faults.0: container-kill strikes containers, and these nodes are none: use docker compose, or "
        "--backend simulate"
    )


def test_an_engine_that_does_not_answer_is_said_with_the_likely_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"unix://{tmp_path}/nobody.sock"
    monkeypatch.setenv(DOCKER_VARIABLE, url)
    with pytest.raises(FaultError) as refused:
        require_docker([FaultEvent(3, "cpu-quota", CpuQuotaEffect((0,), 2.0), Window(0.0))], in_containers=True)
    assert str(refused.value) == (
        f"faults.3: cpu-quota needs the Docker socket, and {url} does not work (No such file or directory): mount it, "
        "with PAME_DOCKER_GROUP its group (stat -c %g /var/run/docker.sock)"
    )


def test_a_container_does_not_count_iterations_while_it_is_down() -> None:
    by_iteration = FaultEvent(0, "container-kill", ContainerKillEffect((0,)), Window(3, 5, "iterations"))
    with pytest.raises(FaultError, match="container-kill goes by the clock"):
        require_docker([by_iteration], in_containers=True)


def test_other_faults_need_no_docker() -> None:
    require_docker([FaultEvent(0, "kill", KillEffect((0,)), Window(1.0, 2.0))], in_containers=False)
