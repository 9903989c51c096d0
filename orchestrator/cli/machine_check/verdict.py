"""What the facts mean: for each thing whether it works, what it is needed for, and the fix. A pure function."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.cli.machine_check import fixes
from orchestrator.cli.machine_check.facts import PORTS, MachineFacts
from orchestrator.number_words import ranges

_LEAST_ENGINE, _LEAST_COMPOSE = (20, 10), (2,)
_KERNEL = {
    "netem": ("netem", "delay, jitter and loss of packets (else: in-process, nft)"),
    "htb": ("htb", "link rates by the kernel (else: in-process)"),
    "nft": ("nftables", "cuts and packet loss without netem"),
    "netem_seed": ("netem seed", "the same packets lost again"),
}
_MODULES = {
    "netem": ("tc", "sch_netem", "CONFIG_NET_SCH_NETEM"),
    "htb": ("tc", "sch_htb", "CONFIG_NET_SCH_HTB and CONFIG_NET_CLS_U32"),
    "nft": ("nft", "nf_tables", "CONFIG_NF_TABLES and CONFIG_NFT_NUMGEN"),
}
"""The tool that asks the kernel for it, the module that has it, and the options of a kernel with that."""
_TOOLS = {
    "ip": "network namespaces, and packets of one segment where some are lost",
    "tc": "shaping links by the kernel",
    "nft": "cuts and packet loss where the kernel has no netem",
    "ss": "counting the bytes of connections",
    "docker": "containers",
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
    findings = [*_kernel(facts), *_rights(facts), *_tools(facts), *_docker(facts), *_ports(facts)]
    return [replace(finding, fix="") if finding.works else finding for finding in findings]


def backends(findings: Sequence[DoctorFinding]) -> dict[str, list[str]]:
    """By backend, what it lacks here; nothing: it runs."""
    missing = {finding.name for finding in findings if not finding.works}
    return {backend: [need for need in needs if need in missing] for backend, needs in _NEEDS.items()}


def _kernel(facts: MachineFacts) -> Iterator[DoctorFinding]:
    for part, (name, needed_for) in _KERNEL.items():
        works, fix = bool(getattr(facts.kernel, part)), "Linux and iproute2 6.6 or later"
        if part in _MODULES:
            fix = _module(*_MODULES[part], facts)
        found = "yes" if works else facts.kernel.reason(part)
        yield DoctorFinding("kernel", name, works, found, needed_for, fix, optional=part == "netem_seed")


def _module(tool: str, name: str, option: str, facts: MachineFacts) -> str:
    """Nobody who lacks the right to use a part of the kernel can know whether it is there."""
    if tool not in facts.tools:
        return fixes.package(tool, facts)
    return fixes.module(name, option, facts) if facts.kernel.net_admin else "become root first: see NET_ADMIN"


def _rights(facts: MachineFacts) -> Iterator[DoctorFinding]:
    can_shape, in_container = "shaping links by the kernel", "sudo; in a container `cap_add: [NET_ADMIN]`"
    rows = (
        ("root", facts.root, "the netns backend", "run it with sudo"),
        ("NET_ADMIN", facts.kernel.net_admin, can_shape, in_container),
        ("namespaces", facts.namespaces, "the netns backend", "run it with sudo, outside of a container"),
    )
    for name, works, needed_for, fix in rows:
        yield DoctorFinding("rights", name, works, "yes" if works else "no", needed_for, fix)


def _tools(facts: MachineFacts) -> Iterator[DoctorFinding]:
    absent = "not installed"
    for tool, needed_for in _TOOLS.items():
        found = facts.tools.get(tool, absent)
        yield DoctorFinding("tools", tool, tool in facts.tools, found, needed_for, fixes.package(tool, facts))
    is_there, needed_for = "linux.uml" in facts.tools, "tests of netem on a kernel without it"
    found = f"{facts.tools['linux.uml']}, not booted" if is_there else absent
    fix = fixes.package("linux.uml", facts) or "build a kernel with ARCH=um"
    yield DoctorFinding("tools", "user mode linux", is_there, found, needed_for, fix, optional=True)


def _docker(facts: MachineFacts) -> Iterator[DoctorFinding]:
    needed_for = "docker compose up"
    found = facts.engine or facts.engine_error or "does not answer"
    fix = "update it: 20.10 or later is needed" if facts.engine else fixes.engine(facts)
    yield DoctorFinding("docker", "engine", _at_least(facts.engine, _LEAST_ENGINE), found, needed_for, fix)
    found, works = facts.compose or "`docker compose` is not there", _at_least(facts.compose, _LEAST_COMPOSE)
    yield DoctorFinding("docker", "compose", works, found, needed_for, fixes.compose(facts))


def _ports(facts: MachineFacts) -> Iterator[DoctorFinding]:
    free = {port for port, is_free in facts.ports.items() if is_free}
    taken = sorted(facts.ports.keys() - free)
    for port in taken:
        fix = f"see who it is with `ss -ltnp 'sport = :{port}'` and stop it, or choose another port"
        yield DoctorFinding("ports", f"port {port}", False, "taken", PORTS[port], fix)
    if free:
        name = "other ports" if taken else "ports"
        yield DoctorFinding("ports", name, True, f"{ranges(free, '-')} free", "serve, compose")


def _at_least(version: str, least: tuple[int, ...]) -> bool:
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return found is not None and tuple(map(int, found[1].split("."))) >= least
