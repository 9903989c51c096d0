"""The containers of nodes, through the Docker API: the only module that imports `docker`, and only when it is needed.

Whoever has the engine's socket can do anything on its machine. Hence only containers of the service `node` in the
orchestrator's own Compose project are touched, whatever a member calls itself.
"""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pame.errors import PameError

DOCKER_VARIABLE = "PAME_DOCKER"
"""Where the engine answers, e.g. unix:///run/docker.sock; deploy/compose.chaos.yml sets it."""
_UNIX = "unix://"
_SERVICE = "node"
_PROJECT_LABEL, _SERVICE_LABEL = "com.docker.compose.project", "com.docker.compose.service"
_ID_LENGTH = 12
"""Of a host name that Docker gives: the beginning of the container's id."""
_ANSWER_S = 20.0
_LEAVE_S = 5
_PERIOD_US = 100_000
_UNLIMITED_US = -1


class NoDocker(PameError):
    """There is no engine to ask."""


class DockerRefused(PameError):
    """The engine did not do what it was asked for."""


@dataclass(frozen=True)
class Quota:
    """How much time on a CPU a container gets in each period."""

    period_us: int
    quota_us: int


def cpu_share(share: float) -> Quota:
    return Quota(_PERIOD_US, round(share * _PERIOD_US))


def open_containers() -> "Containers":
    """The engine that the environment names; NoDocker says what to do if there is none."""
    url = os.environ.get(DOCKER_VARIABLE, "")
    if not url:
        raise NoDocker(
            "needs the Docker socket: start with `docker compose -f docker-compose.yml -f deploy/compose.chaos.yml up`"
        )
    try:
        return Containers(url)
    except DockerRefused as error:
        raise NoDocker(
            f"needs the Docker socket, and {url} does not work ({error}): mount it, with PAME_DOCKER_GROUP its group "
            "(stat -c %g /var/run/docker.sock)"
        ) from None


@contextmanager
def _answered() -> Iterator[None]:
    """Whatever goes wrong on the way to the engine and back is one sentence."""
    from docker.errors import APIError, DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except APIError as error:
        raise DockerRefused(" ".join(str(error.explanation or error).split())) from None
    except (DockerException, RequestException) as error:
        raise DockerRefused(" ".join(str(error).split())) from None
    except OSError as error:
        raise DockerRefused(error.strerror or str(error)) from None


class Containers:
    """The node containers of the Compose project to which this very container belongs."""

    def __init__(self, url: str) -> None:
        """DockerRefused if the engine does not answer, or does not know this container."""
        import docker

        with _answered():
            _knock(url)
            self._engine = docker.APIClient(base_url=url, timeout=_ANSWER_S)
            own = self._engine.inspect_container(socket.gethostname())
        self._project = own["Config"]["Labels"].get(_PROJECT_LABEL, "")
        if not self._project:
            raise DockerRefused("the orchestrator's own container belongs to no Compose project")

    def close(self) -> None:
        self._engine.close()

    @_answered()
    def kill(self, member: str) -> None:
        """At once; it stays down, whatever its restart policy is."""
        self._engine.kill(self._find(member), "SIGKILL")

    @_answered()
    def stop(self, member: str) -> None:
        """In good order, if it does not take too long."""
        self._engine.stop(self._find(member), timeout=_LEAVE_S)

    @_answered()
    def start(self, member: str) -> None:
        """Again; one that runs already goes on."""
        self._engine.start(self._find(member))

    @_answered()
    def quota(self, member: str) -> Quota:
        limits: Mapping[str, int] = self._engine.inspect_container(self._find(member))["HostConfig"]
        return Quota(limits["CpuPeriod"] or _PERIOD_US, limits["CpuQuota"] or _UNLIMITED_US)

    @_answered()
    def set_quota(self, member: str, quota: Quota) -> None:
        self._engine.update_container(self._find(member), cpu_period=quota.period_us, cpu_quota=quota.quota_us)

    def _find(self, member: str) -> str:
        """The id of a member's container: a node in a container calls itself by its host name."""
        labels = [f"{_PROJECT_LABEL}={self._project}", f"{_SERVICE_LABEL}={_SERVICE}"]
        ours: list[dict[str, Any]] = self._engine.containers(all=True, filters={"label": labels})
        ids = [str(each["Id"]) for each in ours if len(member) >= _ID_LENGTH and each["Id"].startswith(member)]
        if len(ids) != 1:
            raise DockerRefused(f"{member} is no container of the service {_SERVICE} in the project {self._project}")
        return ids[0]


def _knock(url: str) -> None:
    """OSError says in plain words why nobody answers; the SDK would not, and would leave its socket open."""
    if url.startswith(_UNIX):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(url.removeprefix(_UNIX))
