"""Compose projects for tests: real containers from images that are already built, gone afterwards whatever happens."""

import json
import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BASE_FILE = ROOT / "docker-compose.yml"
OFFLINE_FILE = ROOT / "deploy" / "compose" / "offline.yml"
CHAOS_FILE = ROOT / "deploy" / "compose.chaos.yml"
IMAGES = ("pame-node", "pame-orchestrator")
OFFLINE_BASE = "pame-base:offline"
_PORTS = ("PAME_PAGE_PORT", "PAME_CLIENT_PORT", "PAME_PROMETHEUS_PORT", "PAME_GRAFANA_PORT")
_LOG_LINES = 60


@dataclass(frozen=True)
class Container:
    id: str
    name: str
    running: bool
    health: str
    """Of its health check: starting, healthy or unhealthy; empty if it has none."""
    exit_code: int
    restarts: int
    pid: int
    """Of its process 1, on this machine; 0 if it does not run."""
    addresses: Mapping[str, str]
    """Its IP address by network (`control`, `data`)."""


@dataclass(frozen=True)
class Project:
    """One network of containers, with a name, ports and volumes of its own."""

    name: str
    files: tuple[Path, ...]
    environment: Mapping[str, str]

    def compose(self, *words: str, seconds: float = 60, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`docker compose WORDS` in this project."""
        return compose(
            self.files, "--project-name", self.name, *words, environment=self.environment, seconds=seconds, check=check
        )

    def up(self, nodes: int, services: Sequence[str] = ("orchestrator", "node"), seconds: float = 120) -> None:
        """Start the services, or scale the nodes of a project that is up; does not wait for health."""
        self.compose(
            "up", "--detach", "--no-build", "--no-recreate", "--scale", f"node={nodes}", *services, seconds=seconds
        )

    def down(self) -> None:
        """Once more, if an engine that is busy has not let go of a network yet."""
        words = ("down", "--volumes", "--remove-orphans", "--timeout", "1")
        if self.compose(*words, seconds=120, check=False).returncode:
            self.compose(*words, seconds=120)

    def execute(self, container: Container, *words: str, seconds: float = 60, check: bool = True) -> str:
        return docker("exec", container.id, *words, seconds=seconds, check=check).stdout

    def logs(self, service: str) -> str:
        """Everything the containers of a service have printed."""
        return self.compose("logs", "--no-color", "--no-log-prefix", service).stdout

    def containers(self, service: str) -> list[Container]:
        """Those of one service, running or not, by name."""
        labels = {"project": self.name, "service": service}
        filters = [f"--filter=label=com.docker.compose.{key}={value}" for key, value in labels.items()]
        ids = docker("ps", "--all", "--quiet", *filters).stdout.split()
        if not ids:
            return []
        # One may be removed between the two commands, when the project is scaled down: the others are still listed.
        found = json.loads(docker("inspect", *ids, check=False).stdout)
        return sorted((_container(self.name, entry) for entry in found), key=lambda container: container.name)

    def container(self, service: str) -> Container:
        (only,) = self.containers(service)
        return only

    def port(self, service: str, inside: int) -> int:
        """The port on 127.0.0.1 of this machine behind which a service's port is."""
        return int(self.compose("port", service, str(inside)).stdout.strip().rpartition(":")[2])

    def members(self) -> list[dict[str, Any]]:
        """Who is there; nobody as long as nobody can be asked."""
        said = self.execute(self.container("orchestrator"), "pame", "nodes", "--json", check=False)
        return [member for member in json.loads(said or "[]") if member["alive"]]

    def newest(self, file: str) -> str:
        orchestrator = self.container("orchestrator")
        folder = self.execute(orchestrator, "ls", "/runs").split()[-1]
        return self.execute(orchestrator, "cat", f"/runs/{folder}/{file}")

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.newest("events.jsonl").splitlines()]

    def pame_run(self, *words: str) -> "subprocess.Popen[str]":
        """`pame run WORDS` in the orchestrator's container."""
        command = ["docker", "exec", self.container("orchestrator").id, "pame", "run", "-q", *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ended_run(self, *words: str, code: int = 0, seconds: float = 60) -> str:
        """`pame run WORDS`, until it is over with this exit code; what it said of its mistakes."""
        return self.end_of(self.pame_run(*words), code, seconds)

    def end_of(self, running: "subprocess.Popen[str]", code: int = 0, seconds: float = 120) -> str:
        _, errors = running.communicate(timeout=seconds)
        assert running.returncode == code, errors
        return errors

    def wait(self, what: str, is_so: Callable[[], bool], seconds: float) -> None:
        """Until `is_so`; fails with the last words of all containers."""
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                last = self.compose("logs", "--no-color", "--tail", str(_LOG_LINES), check=False).stdout
                pytest.fail(f"not after {seconds:g} s: {what}\n{last}", pytrace=False)
            time.sleep(0.2)

    def wait_for_log(self, service: str, text: str, seconds: float) -> None:
        self.wait(f"{service} prints {text!r}", lambda: text in self.logs(service), seconds)

    def wait_for_exit(self, service: str, seconds: float) -> int:
        """Until the only container of a service has ended for good; its exit code."""
        self.wait(f"{service} ends", lambda: not self.container(service).running, seconds)
        return self.container(service).exit_code


@contextmanager
def project(*overlays: Path, **environment: str) -> Iterator[Project]:
    """A project that is not up yet; `environment` is what docker-compose.yml reads (PAME_EXPERIMENT, ...)."""
    missing = [image for image in IMAGES if not has_image(image)]
    if missing:
        pytest.fail(
            f"no image {', '.join(missing)}: run deploy/offline/build.sh or docker compose build", pytrace=False
        )
    files = (BASE_FILE, OFFLINE_FILE, *overlays) if has_image(OFFLINE_BASE) else (BASE_FILE, *overlays)
    made = Project(f"pame-test-{uuid.uuid4().hex[:8]}", files, dict.fromkeys(_PORTS, "0") | environment)
    try:
        yield made
    finally:
        made.down()


def compose(
    files: Sequence[Path],
    *words: str,
    environment: Mapping[str, str] | None = None,
    seconds: float = 60,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """`docker compose` on these files, with nothing of ours in its environment but what is given."""
    outer = {key: value for key, value in os.environ.items() if not key.startswith(("PAME_", "COMPOSE_"))}
    options = [f"--file={file}" for file in files]
    return _run(
        ["docker", "compose", "--project-directory", str(ROOT), "--env-file", os.devnull, *options, *words],
        outer | dict(environment or {}),
        seconds,
        check,
    )


def docker(*words: str, seconds: float = 60, check: bool = True) -> subprocess.CompletedProcess[str]:
    return _run(["docker", *words], dict(os.environ), seconds, check)


def docker_socket() -> Path:
    return Path(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://"))


def has_image(name: str) -> bool:
    """Whether the engine has an image of this name."""
    return docker("image", "inspect", name, check=False).returncode == 0


def _container(project_name: str, entry: Mapping[str, Any]) -> Container:
    state, networks = entry["State"], entry["NetworkSettings"]["Networks"]
    return Container(
        id=str(entry["Id"]),
        name=str(entry["Name"]).removeprefix("/"),
        running=state["Running"] or state["Restarting"],
        health=state.get("Health", {}).get("Status", ""),
        exit_code=state["ExitCode"],
        restarts=int(str(entry["RestartCount"])),
        pid=state["Pid"],
        addresses={name.removeprefix(f"{project_name}_"): each["IPAddress"] for name, each in networks.items()},
    )


def _run(
    command: list[str], environment: dict[str, str], seconds: float, check: bool
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=seconds, check=False)
    if check and done.returncode:
        pytest.fail(f"exit code {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}", pytrace=False)
    return done
