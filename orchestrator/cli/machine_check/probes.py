"""Looks at the machine: each probe is a few lines, bounded in time, and never raises."""

import os
import platform
import re
import shutil
import socket
import subprocess
from pathlib import Path

from node.shaping import probe
from orchestrator.cli.machine_check.facts import PORTS, Distribution, MachineFacts, parse_os_release

_VERSIONS = {
    "tc": ("tc", "-V"),
    "ip": ("ip", "-V"),
    "nft": ("nft", "--version"),
    "ss": ("ss", "-V"),
    "docker": ("docker", "--version"),
}
_UML = ("linux.uml", "busybox")
_PATIENCE_S = 10.0


def look() -> MachineFacts:
    tools = {name: _version(*command) for name, command in _VERSIONS.items() if shutil.which(name)}
    if all(map(shutil.which, _UML)):
        tools["linux.uml"] = _version("linux.uml", "--version")
    engine, engine_error = _run("docker", "version", "--format", "{{.Server.Version}}")
    return MachineFacts(
        distribution=_distribution(),
        release=platform.release(),
        kernel=probe(),
        root=os.geteuid() == 0,
        namespaces=_run("unshare", "--net", "true") == ("", ""),
        tools=tools,
        engine="" if engine_error else engine,
        engine_error=engine_error,
        compose=_run("docker", "compose", "version", "--short")[0],
        ports={port: is_free(port) for port in PORTS},
    )


def is_free(port: int) -> bool:
    """Whether somebody could listen there now, on loopback."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
            tried.listen(1)
        except OSError:
            return False
    return True


def _distribution() -> Distribution:
    try:
        return parse_os_release(Path("/etc/os-release").read_text(errors="replace"))
    except OSError:
        return Distribution()


def _version(*command: str) -> str:
    said, error = _run(*command)
    found = re.search(r"\d+(\.\d+)+", said)
    return found[0] if found else said.partition("\n")[0] or error


def _run(*command: str) -> tuple[str, str]:
    """What a command prints, and, if it fails, why in one line."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False
        )
    except FileNotFoundError:
        return "", f"{command[0]} is not installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    if done.returncode == 0:
        return done.stdout.strip(), ""
    return "", next(iter(done.stderr.strip().splitlines()), f"exit code {done.returncode}")
