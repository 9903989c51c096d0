"""The probes, on this machine."""

import os
import socket
import subprocess

import pytest

from orchestrator.cli.machine_check import look
from orchestrator.cli.machine_check.probes import is_free


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_port_is_free_until_somebody_listens_on_it(host: str) -> None:
    with socket.socket() as server:
        server.bind((host, 0))
        port = server.getsockname()[1]
        server.listen()
        assert not is_free(port)
    assert is_free(port)


def test_what_is_seen_is_what_the_machine_says() -> None:
    facts = look()
    assert facts.release == os.uname().release
    assert facts.root == (os.geteuid() == 0)
    assert ("docker" in facts.tools) == _exists("docker")
    assert ("tc" in facts.tools) == facts.kernel.tc == _exists("tc")
    assert bool(facts.engine) != bool(facts.engine_error)


def test_a_machine_without_any_tool_is_looked_at_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    facts = look()
    assert facts.tools == {}
    assert not any((facts.engine, facts.compose, facts.namespaces, facts.kernel.net_admin))
    assert facts.kernel.reason("net_admin") == "ip is not installed"


def _exists(tool: str) -> bool:
    return subprocess.run(("sh", "-c", f"command -v {tool}"), capture_output=True, check=False).returncode == 0
