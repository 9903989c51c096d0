"""What was seen of a machine: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from node.shaping import Kernel

Family = Literal["debian", "ubuntu", "fedora", "arch", "alpine", "other"]
_FAMILIES: tuple[Family, ...] = ("ubuntu", "debian", "fedora", "arch", "alpine")
PORTS = {
    3000: "Grafana (PAME_GRAFANA_PORT)",
    4749: "joining and clients over TLS (--join-port, PAME_CLIENT_PORT)",
    4750: "nodes and clients (pame serve --port)",
    4751: "the orchestrator's metrics (pame serve --metrics-port)",
    4752: "a node's data (python -m node --port)",
    4753: "health checks (--health-port)",
    4754: "a node's metrics (python -m node --metrics-port)",
    8080: "the live page (--page-port, PAME_PAGE_PORT)",
    9090: "Prometheus (PAME_PROMETHEUS_PORT)",
}
"""What each port is for."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """By /etc/os-release."""

    name: str = "unknown"
    family: Family = "other"
    """The one whose packages it has."""


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Everything that `pame doctor` judges."""

    distribution: Distribution
    release: str
    """Of the kernel."""
    kernel: Kernel
    root: bool
    namespaces: bool
    """A network namespace of one's own can be made."""
    tools: Mapping[str, str]
    """The version of each that is installed."""
    engine: str
    """The version of the Docker engine; empty if it does not answer."""
    engine_error: str
    compose: str
    """The version of `docker compose`; empty without it."""
    ports: Mapping[int, bool]
    """Whether each is free on loopback."""


def parse_os_release(text: str) -> Distribution:
    lines = (line.partition("=") for line in text.splitlines())
    said = {key.strip(): value.strip().strip("\"'") for key, _, value in lines}
    words = [said.get("ID", ""), *said.get("ID_LIKE", "").split()]
    family = next((family for word in words for family in _FAMILIES if word == family), None)
    if family is None and {"rhel", "centos"} & set(words):
        family = "fedora"
    return Distribution(said.get("PRETTY_NAME") or said.get("NAME") or "unknown", family or "other")
