"""What the facts mean: for each thing whether it works, what it is needed for, and the fix. A pure function."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.cli.machine_check import fixes
from orchestrator.cli.machine_check.facts import MachineFacts

_LEAST_ENGINE, _LEAST_COMPOSE = (20, 10), (2,)
_TOOLS = {
    "ip": "network namespaces, and packets of one segment where some are lost",
    "tc": "shaping links by the kernel",
    "nft": "cuts and packet loss where the kernel has no netem",
    "ss": "counting the bytes of connections",
    "docker": "containers",
}
_PORTS = {
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
_NEEDS = {
    "simulate": (),
    "local": (),
    "netns": ("root", "NET_ADMIN", "namespaces", "ip", "tc"),
    "compose": ("docker", "engine", "compose"),
}


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that works or does not."""

    group: str
    name: str
    works: bool
    found: str
    needed_for: str
    fix: str = ""
    """What to do; empty if it works."""
    optional: bool = False
    """Nobody needs to have it: `--strict` lets it pass."""


def judge(facts: MachineFacts) -> list[DoctorFinding]:
    """Everything, group by group."""
    return [*_kernel(facts), *_rights(facts), *_tools(facts), *_docker(facts), *_ports(facts)]


def backends(findings: Sequence[DoctorFinding]) -> dict[str, list[str]]:
    """By backend, what it lacks here; nothing: it runs."""
    missing = {finding.name for finding in findings if not finding.works}
    return {backend: [need for need in needs if need in missing] for backend, needs in _NEEDS.items()}


def _kernel(facts: MachineFacts) -> Iterator[DoctorFinding]:
    kernel = facts.kernel

    def finding(attribute: str, name: str, needed_for: str, fix: str, optional: bool = False) -> DoctorFinding:
        works = bool(getattr(kernel, attribute))
        found = "yes" if works else kernel.reason(attribute)
        return DoctorFinding("kernel", name, works, found, needed_for, "" if works else fix, optional)

    netem, htb, nft = (
        fixes.module(*names, facts)
        for names in (
            ("sch_netem", "CONFIG_NET_SCH_NETEM"),
            ("sch_htb", "CONFIG_NET_SCH_HTB and CONFIG_NET_CLS_U32"),
            ("nf_tables", "CONFIG_NF_TABLES and CONFIG_NFT_NUMGEN"),
        )
    )
    if not kernel.net_admin:
        netem = htb = nft = "become root first: see NET_ADMIN"
    tc = fixes.package("tc", facts)
    yield finding(
        "netem", "netem", "delay, jitter and loss of packets (else: in-process, nft)", netem if kernel.tc else tc
    )
    yield finding("htb", "htb", "link rates by the kernel (else: in-process)", htb if kernel.tc else tc)
    has_nft = "nft" in facts.tools
    yield finding(
        "nft", "nftables", "cuts and packet loss without netem", nft if has_nft else fixes.package("nft", facts)
    )
    yield finding("netem_seed", "netem seed", "the same packets lost again", "Linux and iproute2 6.6 or later", True)


def _rights(facts: MachineFacts) -> Iterator[DoctorFinding]:
    rows = (
        ("root", facts.root, "the netns backend", "run it with sudo"),
        (
            "NET_ADMIN",
            facts.kernel.net_admin,
            "shaping links by the kernel",
            "sudo; in a container `cap_add: [NET_ADMIN]`",
        ),
        ("namespaces", facts.namespaces, "the netns backend", "run it with sudo, outside of a container"),
    )
    for name, works, needed_for, fix in rows:
        yield DoctorFinding("rights", name, works, "yes" if works else "no", needed_for, "" if works else fix)


def _tools(facts: MachineFacts) -> Iterator[DoctorFinding]:
    for tool, needed_for in _TOOLS.items():
        works = tool in facts.tools
        fix = "" if works else fixes.package(tool, facts)
        yield DoctorFinding("tools", tool, works, facts.tools.get(tool, "not installed"), needed_for, fix)
    needed_for = "tests of netem on a kernel without it"
    if "linux.uml" in facts.tools:
        found = f"{facts.tools['linux.uml']}, not booted"
        yield DoctorFinding("tools", "user mode linux", True, found, needed_for, optional=True)
    else:
        fix = fixes.package("linux.uml", facts) or "build a kernel with ARCH=um"
        yield DoctorFinding("tools", "user mode linux", False, "not installed", needed_for, fix, optional=True)


def _docker(facts: MachineFacts) -> Iterator[DoctorFinding]:
    needed_for = "docker compose up"
    works = _at_least(facts.engine, _LEAST_ENGINE)
    if facts.engine and not works:
        yield DoctorFinding("docker", "engine", False, facts.engine, needed_for, "update it: 20.10 or later is needed")
    else:
        found = facts.engine or facts.engine_error or "does not answer"
        yield DoctorFinding("docker", "engine", works, found, needed_for, "" if works else fixes.engine(facts))
    works = _at_least(facts.compose, _LEAST_COMPOSE)
    found = facts.compose or "`docker compose` is not there"
    yield DoctorFinding("docker", "compose", works, found, needed_for, "" if works else fixes.compose(facts))


def _ports(facts: MachineFacts) -> Iterator[DoctorFinding]:
    taken = [port for port, free in sorted(facts.ports.items()) if not free]
    free = [port for port, free in sorted(facts.ports.items()) if free]
    for port in taken:
        fix = f"see who it is with `ss -ltnp 'sport = :{port}'` and stop it, or choose another port"
        yield DoctorFinding("ports", f"port {port}", False, "taken", _PORTS[port], fix)
    if free:
        yield DoctorFinding(
            "ports", "other ports" if taken else "ports", True, f"{_ranges(free)} free", "serve, compose"
        )


def _at_least(version: str, least: tuple[int, ...]) -> bool:
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return found is not None and tuple(map(int, found[1].split("."))) >= least


def _ranges(numbers: Sequence[int]) -> str:
    """3000, 4749-4754."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return ", ".join(str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups)
