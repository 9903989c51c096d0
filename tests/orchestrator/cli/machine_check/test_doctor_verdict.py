"""What facts mean, on machines written out by hand."""

from dataclasses import replace

import pytest

from node.shaping import Kernel
from orchestrator.cli.machine_check import Distribution, DoctorFinding, MachineFacts, backends, judge
from orchestrator.cli.machine_check.facts import Family, parse_os_release

GOOD = MachineFacts(
    distribution=Distribution("Debian GNU/Linux 13 (trixie)", "debian"),
    release="6.12.0",
    kernel=Kernel(net_admin=True, tc=True, htb=True, netem=True, netem_seed=True, nft=True),
    root=True,
    namespaces=True,
    tools=dict.fromkeys(("tc", "ip", "nft", "ss", "docker", "linux.uml"), "1.0"),
    engine="26.1.5",
    engine_error="",
    compose="2.26.1",
    ports={4749: True, 4750: True, 8080: True},
)


def missing(facts: MachineFacts) -> dict[str, DoctorFinding]:
    return {finding.name: finding for finding in judge(facts) if not finding.works}


def without(*tools: str, family: Family = "debian") -> MachineFacts:
    left = {name: version for name, version in GOOD.tools.items() if name not in tools}
    return replace(GOOD, tools=left, distribution=Distribution("some", family))


def test_a_machine_with_everything_lacks_nothing() -> None:
    assert missing(GOOD) == {}
    assert all(finding.needed_for and not finding.fix for finding in judge(GOOD))
    assert backends(judge(GOOD)) == {"simulate": [], "local": [], "netns": [], "compose": []}


@pytest.mark.parametrize(
    ("family", "tool", "fix"),
    [
        ("debian", "nft", "sudo apt install nftables"),
        ("ubuntu", "tc", "sudo apt install iproute2"),
        ("fedora", "tc", "sudo dnf install iproute-tc"),
        ("arch", "docker", "sudo pacman -S docker"),
        ("alpine", "ss", "sudo apk add iproute2-ss"),
        ("other", "nft", "install nftables"),
    ],
)
def test_a_missing_tool_is_installed_as_the_distribution_does_it(family: Family, tool: str, fix: str) -> None:
    assert missing(without(tool, family=family))[tool].fix == fix


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("ubuntu", "linux-modules-extra-$(uname -r)"),
        ("fedora", "kernel-modules-extra"),
        ("alpine", "linux-lts"),
        ("debian", "standard kernel"),
    ],
)
def test_a_kernel_without_netem_is_told_where_the_module_is(family: Family, words: str) -> None:
    kernel = replace(GOOD.kernel, netem=False, netem_seed=False, reasons=(("netem", "kind is unknown"),))
    found = missing(replace(GOOD, kernel=kernel, distribution=Distribution("some", family)))
    assert found["netem"].found == "kind is unknown"
    assert found["netem"].fix.startswith("sudo modprobe sch_netem")
    assert words in found["netem"].fix
    assert found["netem seed"].optional


def test_without_rights_the_fix_is_to_get_them_and_not_a_module() -> None:
    kernel = Kernel(tc=True, reasons=(("net_admin", "Operation not permitted"),))
    powerless = replace(GOOD, kernel=kernel, root=False, namespaces=False)
    assert "cap_add" in missing(powerless)["NET_ADMIN"].fix
    assert "root" in missing(powerless)["htb"].fix
    assert backends(judge(powerless))["netns"] == ["root", "NET_ADMIN", "namespaces"]


@pytest.mark.parametrize(
    ("facts", "fix"),
    [
        (replace(without("docker"), engine="", engine_error="docker is not installed"), "sudo apt install docker.io"),
        (replace(GOOD, engine="", engine_error="Permission denied while trying"), "sudo usermod -aG docker $USER"),
        (replace(GOOD, engine="", engine_error="Cannot connect to the daemon"), "sudo systemctl start docker"),
        (replace(GOOD, engine="19.03.8"), "update it: 20.10 or later"),
    ],
)
def test_an_engine_that_does_not_answer_has_a_fix_for_its_reason(facts: MachineFacts, fix: str) -> None:
    found = missing(facts)
    assert found["engine"].fix.startswith(fix)
    assert "engine" in backends(judge(facts))["compose"]


@pytest.mark.parametrize(("version", "works"), [("", False), ("1.29.2", False), ("v2.26.1", True), ("5.0.1-ds", True)])
def test_compose_must_be_the_second_version_or_later(version: str, works: bool) -> None:
    assert ("compose" not in missing(replace(GOOD, compose=version))) is works


def test_a_taken_port_says_what_it_is_for_and_the_others_are_free() -> None:
    ports = {port: port != 8080 for port in (3000, 4749, 4750, 4751, 8080)}
    findings = {finding.name: finding for finding in judge(replace(GOOD, ports=ports)) if finding.group == "ports"}
    assert not findings["port 8080"].works
    assert "live page" in findings["port 8080"].needed_for
    assert "sport = :8080" in findings["port 8080"].fix
    assert findings["other ports"].found == "3000, 4749-4751 free"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', ("Debian GNU/Linux 12 (bookworm)", "debian")),
        ('NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', ("Ubuntu", "ubuntu")),
        ('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', ("Linux Mint", "ubuntu")),
        ('NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\n', ("Rocky Linux", "fedora")),
        ("NAME='CentOS'\nID=centos\n", ("CentOS", "fedora")),
        ('PRETTY_NAME="Alpine Linux v3.20"\nID=alpine\n', ("Alpine Linux v3.20", "alpine")),
        ("NAME=Manjaro\nID=manjaro\nID_LIKE=arch\n", ("Manjaro", "arch")),
        ("ID=plan9\nnonsense\n", ("unknown", "other")),
        ("", ("unknown", "other")),
    ],
)
def test_a_distribution_is_known_by_its_os_release(text: str, expected: tuple[str, Family]) -> None:
    assert parse_os_release(text) == Distribution(*expected)
