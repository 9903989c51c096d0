"""How to get what is missing: packages and settings, by distribution."""

from collections.abc import Mapping

from orchestrator.cli.machine_check.facts import Family, MachineFacts

_INSTALL: Mapping[Family, str] = {
    "debian": "sudo apt install",
    "ubuntu": "sudo apt install",
    "fedora": "sudo dnf install",
    "arch": "sudo pacman -S",
    "alpine": "sudo apk add",
    "other": "install",
}
_PACKAGES: Mapping[str, Mapping[Family, str]] = {
    "ip": {"fedora": "iproute", "other": "iproute2"},
    "tc": {"fedora": "iproute-tc", "alpine": "iproute2-tc", "other": "iproute2"},
    "ss": {"fedora": "iproute", "alpine": "iproute2-ss", "other": "iproute2"},
    "nft": {"other": "nftables"},
    "docker": {"debian": "docker.io", "ubuntu": "docker.io", "fedora": "moby-engine", "other": "docker"},
    "compose": {"ubuntu": "docker-compose-v2", "alpine": "docker-cli-compose", "other": "docker-compose"},
    "linux.uml": {"debian": "user-mode-linux busybox-static", "ubuntu": "user-mode-linux busybox-static"},
    "modules": {
        "ubuntu": "linux-modules-extra-$(uname -r)",
        "fedora": "kernel-modules-extra",
        "arch": "linux",
        "alpine": "linux-lts",
    },
}


def package(tool: str, facts: MachineFacts) -> str:
    """The command that installs it; empty where the distribution has no package."""
    names, family = _PACKAGES[tool], facts.distribution.family
    name = names.get(family) or names.get("other")
    return f"{_INSTALL[family]} {name}" if name else ""


def module(name: str, option: str, facts: MachineFacts) -> str:
    extra = package("modules", facts)
    boots = f"{extra}, then load it" if extra else "boot the distribution's standard kernel"
    return f"sudo modprobe {name}; if there is none: {boots}, or use a kernel with {option}"


def engine(facts: MachineFacts) -> str:
    if "docker" not in facts.tools:
        return package("docker", facts)
    if "permission denied" in facts.engine_error.lower():
        return "sudo usermod -aG docker $USER, then log in anew"
    start = "sudo rc-service docker start" if facts.distribution.family == "alpine" else "sudo systemctl start docker"
    return f"{start}, or set DOCKER_HOST"


def compose(facts: MachineFacts) -> str:
    command = package("compose", facts)
    return f"{command} (Debian 13 or later)" if facts.distribution.family == "debian" else command
