"""Faults through the Docker API, on real containers with deploy/compose.chaos.yml; one project for the tests of it."""

from collections.abc import Iterator

import pytest

from tests.deploy.harness import CHAOS_FILE, Container, Project, docker, docker_socket, project

pytestmark = [pytest.mark.requires("docker"), pytest.mark.xdist_group("containers"), pytest.mark.timeout(200)]

NODES = 4
RING = (
    "experiments/quickstart.yaml", "--set", f"nodes={NODES}", "--set", "topology={kind: ring}",
    "--set", "exchange.patience=500ms",
)  # fmt: skip
FAULTS = """[
  {kind: cpu-quota, nodes: [1], cpu: 20%, at: 500ms, for: 10s},
  {kind: container-kill, nodes: [2], at: 1s, back_after: 2s},
  {kind: container-restart, nodes: [3], at: 1500ms, back_after: 1s},
  {kind: cpu-quota, nodes: [0], cpu: 50%, at: 2s},
]"""
STRIKE = """
import sys
from orchestrator.control.containers import DockerRefused, open_containers
try:
    open_containers().kill(sys.argv[1])
except DockerRefused as error:
    print(error)
"""
ENDLESS = "[{kind: container-kill, nodes: [2], at: 500ms}, {kind: cpu-quota, nodes: [0], cpu: 30%}]"
HELD_QUOTA = "cut -d' ' -f1 /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us"


@pytest.fixture(scope="module")
def network() -> Iterator[Project]:
    """Four nodes that wait for a run."""
    socket = docker_socket()
    with project(
        CHAOS_FILE,
        PAME_NODES="99",  # no run begins by itself
        PAME_DOCKER_SOCKET=str(socket),
        PAME_DOCKER_GROUP=str(socket.stat().st_gid),
    ) as made:
        made.up(NODES)
        made.wait("the nodes have joined", lambda: len(made.members()) == NODES, 60)
        yield made


def granted(network: Project, container: Container) -> str:
    """The quota that the kernel holds, in microseconds of each 100 ms; unlimited is `max` or -1."""
    return network.execute(container, "sh", "-c", HELD_QUOTA, check=False).strip()


def is_whole(network: Project) -> bool:
    """Whether every container runs, and with all the CPU that it can get."""
    containers = network.containers("node")
    return all(each.running and granted(network, each) in ("max", "-1") for each in containers)


def test_containers_are_struck_come_back_and_the_run_goes_on(network: Project) -> None:
    running = network.pame_run(*RING, "--set", "stop.iterations=400", "--set", f"faults={FAULTS}")
    network.wait(
        "the kernel holds the quota",
        lambda: "20000" in {granted(network, each) for each in network.containers("node")},
        30,
    )
    network.end_of(running)
    assert is_whole(network)

    happened = network.events()
    names = {event["node"]: event["detail"] for event in happened if event["what"] == "assigned"}
    by_docker = [event for event in happened if "mechanism" in event]
    assert {event["mechanism"] for event in by_docker} == {"docker"}
    told = {(event["what"], event["detail"], event["node"], event["planned"]) for event in by_docker}
    assert told == {
        ("fault begins", "cpu-quota", 1, 0.5),
        ("fault ends", "cpu-quota", 1, 10.5),
        ("fault begins", "container-kill", 2, 1.0),
        ("fault ends", "container-kill", 2, 3.0),
        ("fault begins", "container-restart", 3, 1.5),
        ("fault ends", "container-restart", 3, 2.5),
        ("fault begins", "cpu-quota", 0, 2.0),
        ("fault ends", "cpu-quota", 0, None),  # with the run
    }
    assert all(event["seconds"] >= (event["planned"] or 0) and event["took"] > 0 for event in by_docker)
    [died] = [event for event in happened if event["what"] == "died"]
    [left] = [event for event in happened if event["what"] == "left"]
    assert (died["node"], left["node"]) == (2, 3)
    back = {event["node"]: event for event in happened if event["what"] == "restarted"}
    assert back.keys() == {2, 3}
    assert back[2]["seconds"] >= 3.0  # not before its time, whatever the restart policy says
    assert all(back[node]["detail"].startswith(names[node]) for node in back)


def test_only_nodes_of_its_own_project_can_be_struck(network: Project) -> None:
    orchestrator, node = network.container("orchestrator"), network.containers("node")[0]
    for name in (orchestrator.id[:12], node.name, node.id[:6]):
        said = network.execute(orchestrator, "python", "-c", STRIKE, name)
        assert said.strip() == f"{name} is no container of the service node in the project {network.name}"
    assert network.container("orchestrator").pid == orchestrator.pid
    assert network.containers("node")[0].pid == node.pid


def test_an_interrupted_run_ends_healed_and_what_docker_refuses_by_hand_is_told(network: Project) -> None:
    network.wait("all nodes are back", lambda: len(network.members()) == NODES, 30)
    orchestrator = network.container("orchestrator")
    running = network.pame_run(*RING, "--set", "stop.iterations=5000", "--set", f"faults={ENDLESS}")
    try:
        network.wait(
            "one is down and one is slow",
            lambda: (
                sum(not each.running for each in network.containers("node")) == 1
                and "30000" in {granted(network, each) for each in network.containers("node") if each.running}
            ),
            40,
        )
        gone = next(e["detail"] for e in network.events() if (e["what"], e["node"]) == ("assigned", 3))
        docker("kill", gone)
        with pytest.raises(pytest.fail.Exception, match="is not running"):  # Docker's reason is the answer
            network.execute(orchestrator, "pame", "fault", "{kind: container-kill, nodes: [3], back_after: 1s}")
        [failed] = [event for event in network.events() if event["what"] == "fault failed"]
        assert (failed["node"], failed["mechanism"]) == (3, "docker")
        assert "is not running" in failed["detail"]
        docker("start", gone)
        docker("stop", "--time", "60", orchestrator.id, seconds=90)
        assert is_whole(network)
    finally:
        running.kill()
        running.communicate(timeout=10)
