"""The images as they were built: small, complete, and with the owners that volumes take over."""

import json
from typing import Any

import pytest

from tests.deploy.harness import IMAGES, docker, has_image

pytestmark = pytest.mark.requires("docker")

NODE_LIMIT_BYTES = 350_000_000
IMPORT_ALL = """
import importlib, json, pkgutil, sys, node
from importlib.metadata import version
from pame import algorithms, problems
for module in pkgutil.walk_packages(node.__path__, "node."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(json.dumps({"version": version("pame-testbed"), "modules": sorted(sys.modules)}))
"""


def told(image: str, *command: str) -> str:
    """What a command prints in a container that has no network and cannot write."""
    return docker(
        "run", "--rm", "--network=none", "--read-only", "--entrypoint", command[0], image, *command[1:]
    ).stdout


def inspected(image: str) -> dict[str, Any]:
    assert has_image(image), f"no image {image}: run deploy/offline/build.sh or docker compose build"
    found: dict[str, Any] = json.loads(docker("image", "inspect", image).stdout)[0]
    return found


def test_the_node_image_is_small() -> None:
    assert inspected("pame-node")["Size"] < NODE_LIMIT_BYTES


def test_a_node_can_import_all_it_needs_and_no_torch() -> None:
    found = json.loads(told("pame-node", "python", "-c", IMPORT_ALL))
    assert not {"torch", "scipy", "networkx", "orchestrator"} & set(found["modules"])
    assert found["version"] == json.loads(told("pame-orchestrator", "python", "-c", IMPORT_ALL))["version"]


def test_both_images_compute_with_the_same_libraries() -> None:
    asks = (
        "import google.protobuf, grpc, numpy, sys; "
        "print(*(library.__version__ for library in (google.protobuf, grpc, numpy)), sys.version)"
    )
    assert told("pame-node", "python", "-c", asks) == told("pame-orchestrator", "python", "-c", asks)


def test_a_node_has_the_tools_that_shape_links() -> None:
    told("pame-node", "sh", "-c", "tc -V && nft -v && ip -V")


@pytest.mark.parametrize("image", IMAGES)
def test_health_is_asked_over_grpc(image: str) -> None:
    check = inspected(image)["Config"]["Healthcheck"]
    assert check["Test"] == ["CMD", "python", "-m", "node.health_check", "127.0.0.1:4753"]


@pytest.mark.parametrize("image", IMAGES)
def test_the_folder_for_secrets_is_closed_to_others(image: str) -> None:
    assert told(image, "stat", "-c", "%u:%g %a", "/var/lib/pame") == "10001:0 770\n"


def test_the_orchestrator_is_not_root_and_has_the_experiments() -> None:
    assert inspected("pame-orchestrator")["Config"]["User"] == "10001:0"
    assert told("pame-orchestrator", "stat", "-c", "%u:%g %a", "/runs") == "10001:0 775\n"
    assert "quickstart.yaml" in told("pame-orchestrator", "ls", "/app/experiments")


@pytest.mark.parametrize("image", IMAGES)
def test_bytecode_is_there_because_a_read_only_container_cannot_keep_any(image: str) -> None:
    asks = (
        "import asyncio, numpy, node.process, os; "
        "print([m.__name__ for m in (asyncio, numpy, node.process) if not os.path.exists(m.__cached__)])"
    )
    assert told(image, "python", "-c", asks) == "[]\n"
