"""What `docker compose config` makes of our files: who may do what, and that the overlay does no more than it says."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.command import PAME
from tests.deploy.harness import BASE_FILE, CHAOS_FILE, OFFLINE_FILE, ROOT, compose

pytestmark = pytest.mark.requires("compose")

SERVICES = ("grafana", "node", "orchestrator", "prometheus")
ARGUMENTS = {"PAME_VERSION": ""}
OFFLINE_ARGUMENTS = {**ARGUMENTS, "BASE": "pame-base:offline", "PIP_FIND_LINKS": "/wheels", "PIP_NO_INDEX": "1"}


@cache
def _resolved(*files: Path) -> str:
    return compose(files, "config", "--format=json").stdout


def resolved(*files: Path, **environment: str) -> dict[str, Any]:
    text = (
        compose(files, "config", "--format=json", environment=environment).stdout if environment else _resolved(*files)
    )
    config: dict[str, Any] = json.loads(text)
    return config


def services(*files: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = resolved(*files)["services"]
    return found


def test_a_fresh_clone_needs_no_environment() -> None:
    bare = {key: os.environ[key] for key in ("PATH", "HOME", "DOCKER_CONFIG", "DOCKER_HOST") if key in os.environ}
    command = ["docker", "compose", "--env-file", os.devnull, "config"]
    done = subprocess.run(command, cwd=ROOT, env=bare, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_the_overlay_changes_only_what_it_is_for() -> None:
    online, offline = resolved(BASE_FILE), resolved(BASE_FILE, OFFLINE_FILE)
    for name in ("node", "orchestrator"):
        assert offline["services"][name]["build"].pop("args") == OFFLINE_ARGUMENTS
        assert online["services"][name]["build"].pop("args") == ARGUMENTS
    build = offline["services"]["prometheus"].pop("build")
    assert build["dockerfile"] == "deploy/offline/prometheus.Dockerfile"
    assert offline["services"]["prometheus"].pop("image") == "pame-prometheus:offline"
    online["services"]["prometheus"].pop("image")
    online["services"].pop("grafana")
    assert "grafana" not in offline["services"]
    for config in (online, offline):
        for anchors in [key for key in config if key.startswith("x-")]:
            del config[anchors]
    assert offline == online


def test_the_overlay_for_faults_through_docker_gives_the_socket_to_the_orchestrator_and_nothing_else() -> None:
    plain = resolved(BASE_FILE)
    chaos = resolved(BASE_FILE, CHAOS_FILE, PAME_DOCKER_GROUP="998", PAME_DOCKER_SOCKET="/elsewhere/docker.sock")
    orchestrator = chaos["services"]["orchestrator"]
    assert orchestrator.pop("group_add") == ["998"]
    assert orchestrator["environment"].pop("PAME_DOCKER") == "unix:///run/docker.sock"
    (socket,) = (volume for volume in orchestrator["volumes"] if volume["type"] == "bind")
    assert (socket["source"], socket["target"]) == ("/elsewhere/docker.sock", "/run/docker.sock")
    assert not socket["bind"].get("create_host_path")  # a missing socket is an error, not a new folder
    orchestrator["volumes"].remove(socket)
    assert chaos == plain


def test_one_variable_asks_for_images_with_torch_and_changes_nothing_else() -> None:
    plain, torch = resolved(BASE_FILE)["services"], resolved(BASE_FILE, PAME_NODE_TARGET="node-torch")["services"]
    for name in ("node", "orchestrator"):
        assert (plain[name].pop("image"), plain[name]["build"].pop("target")) == (f"pame-{name}", name)
        asked = f"{name}-torch"
        assert (torch[name].pop("image"), torch[name]["build"].pop("target")) == (f"pame-{asked}", asked)
    assert torch == plain


@pytest.mark.parametrize("files", [(BASE_FILE,), (BASE_FILE, OFFLINE_FILE)], ids=["online", "offline"])
def test_nobody_may_do_more_than_it_must(files: tuple[Path, ...]) -> None:
    for name, service in services(*files).items():
        assert service["cap_drop"] == ["ALL"], name
        assert service.get("cap_add", []) == (["NET_ADMIN"] if name == "node" else []), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert int(service["mem_limit"]) > 0, name
        assert service["pids_limit"] > 0, name
        assert not {"privileged", "pid", "ipc", "network_mode", "devices", "userns_mode"} & service.keys(), name


def test_only_a_node_is_root() -> None:
    users = {name: service["user"] for name, service in services(BASE_FILE).items()}
    assert users["node"] == "0:0"
    assert users["orchestrator"] == "10001:0"
    assert {name for name, user in users.items() if user.startswith("0")} == {"node"}


def test_nothing_of_this_machine_is_mounted_but_our_own_files_for_reading() -> None:
    for name, service in services(BASE_FILE).items():
        for volume in service.get("volumes", []):
            if volume["type"] == "bind":
                assert volume["read_only"] is True, name
                assert Path(volume["source"]).is_relative_to(ROOT / "deploy"), name
            assert "docker.sock" not in json.dumps(volume), name


def test_what_is_mounted_is_in_the_repository() -> None:
    mounts = [volume for service in services(BASE_FILE).values() for volume in service.get("volumes", [])]
    for source in (Path(volume["source"]) for volume in mounts if volume["type"] == "bind"):
        assert any(source.iterdir()), source


def test_a_node_can_read_the_token_and_not_write_it() -> None:
    (of_node,) = services(BASE_FILE)["node"]["volumes"]
    assert (of_node["source"], of_node["target"], of_node["read_only"]) == ("security", "/var/lib/pame", True)
    of_orchestrator = services(BASE_FILE)["orchestrator"]["volumes"]
    assert ("security", "/var/lib/pame") in {(volume["source"], volume["target"]) for volume in of_orchestrator}
    for other in ("prometheus", "grafana"):
        assert "security" not in {volume["source"] for volume in services(BASE_FILE)[other]["volumes"]}


def test_only_nodes_are_on_the_data_network() -> None:
    config = resolved(BASE_FILE)
    networks = {name: set(service["networks"]) for name, service in config["services"].items()}
    assert networks == {name: {"control", "data"} if name == "node" else {"control"} for name in SERVICES}
    assert config["networks"]["data"]["internal"] is True


def test_ports_are_open_to_this_machine_only() -> None:
    ports = {name: service.get("ports", []) for name, service in services(BASE_FILE).items()}
    assert {port["host_ip"] for each in ports.values() for port in each} == {"127.0.0.1"}
    assert {name: [port["target"] for port in each] for name, each in ports.items()} == {
        "orchestrator": [8080, 4749],
        "node": [],
        "prometheus": [9090],
        "grafana": [3000],
    }


def test_plain_up_starts_eight_nodes_that_come_back_after_a_crash() -> None:
    node = services(BASE_FILE)["node"]
    assert node["deploy"]["replicas"] == 8
    assert node["restart"] == "on-failure"
    assert "container_name" not in node


def test_the_environment_chooses_experiment_nodes_and_exit() -> None:
    assert services(BASE_FILE)["orchestrator"]["environment"] == {
        "PAME_EXPERIMENT": "quickstart",
        "PAME_NODES": None,
        "PAME_EXIT": None,
        "PAME_GATHER": "180s",
        "PAME_ALLOW_HOST": "orchestrator ",
        "PAME_ON": "127.0.0.1:4749",
        "PAME_SECURITY": "/var/lib/pame",
        "PAME_DATA": "/data",
    }
    chosen = {"PAME_EXPERIMENT": "logistic", "PAME_NODES": "5", "PAME_EXIT": "1", "PAME_GATHER": "5s"}
    assert chosen.items() <= resolved(BASE_FILE, **chosen)["services"]["orchestrator"]["environment"].items()


def test_run_folders_can_be_kept_on_this_machine(tmp_path: Path) -> None:
    (runs,) = (
        volume
        for volume in resolved(BASE_FILE, PAME_RUNS=str(tmp_path))["services"]["orchestrator"]["volumes"]
        if volume["target"] == "/runs"
    )
    assert (runs["type"], runs["source"]) == ("bind", str(tmp_path))


@pytest.mark.parametrize(
    ("service", "program"),
    [
        ("node", [sys.executable, "-m", "node"]),
        ("orchestrator", [PAME, "serve"]),
    ],
)
def test_every_option_of_a_command_exists(service: str, program: list[str]) -> None:
    command = [*program, "--help"]
    environment = os.environ | {"COLUMNS": "200"}
    told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 0, told.stderr
    options = [word.partition("=")[0] for word in services(BASE_FILE)[service]["command"] if word.startswith("--")]
    assert [option for option in options if f"{option} " not in told.stdout] == []
