"""`pame serve --security`: certificates that are no good are counted, and clients need the folder."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import grpc
import pytest

from contract.credentials import ORCHESTRATOR_NAME, expecting, mutual_channel
from contract.keypair import SigningRequest
from orchestrator.control.security import Authority
from tests.command import told
from tests.harness import poll
from tests.orchestrator.cli.harness import Pame

BOUND_S = 60.0
PROGRAM = str(Path(sys.executable).parent / "pame")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Server:
    """An orchestrator in a process of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", folder: Path, control: str) -> None:
        self.process = process
        self.control = control
        self.vault = folder / "security"
        self._log = folder / "log"

    def events(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._log.read_text().splitlines() if line.startswith("{")]

    @property
    def about(self) -> dict[str, str]:
        """What it said when it began to listen."""
        return {key: str(value) for key, value in self.events()[0].items()}

    def refused(self) -> dict[str, float]:
        with urlopen(f"http://{self.about['metrics']}/metrics", timeout=10) as answer:
            found = re.findall(
                r'pame_orchestrator_refused_handshakes_total{reason="(\w+)"} (\S+)', answer.read().decode()
            )
        return {reason: float(count) for reason, count in found}

    def log(self) -> str:
        return self._log.read_text()


def started(folder: Path) -> Server:
    """Nobody says which control port it took, so it is given one, which somebody else may take meanwhile."""
    for _ in range(3):
        port = free_port()
        command = [PROGRAM, "serve", "--port", str(port), "--metrics-port", "0", "--join-port", "0"]
        command += ["--page-port", "0", "--security", str(folder / "security"), "--out", str(folder / "runs")]
        with (folder / "log").open("wb") as log:
            server = Server(subprocess.Popen(command, cwd=folder, stderr=log, stdout=log), folder, f"127.0.0.1:{port}")
        poll(partial(has_begun, server))
        if server.process.poll() is None:
            return server
    pytest.fail(server.log())


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = started(folder)
    try:
        yield server
    finally:
        server.process.send_signal(signal.SIGTERM)
        try:
            server.process.wait(20)
        finally:
            server.process.kill()
            server.process.wait()


def has_begun(server: Server) -> bool:
    return server.process.poll() is not None or bool(server.events())


def has_counted(server: Server, reason: str) -> bool:
    return server.refused().get(reason, 0) >= 1


def knock(address: str, credentials: grpc.ChannelCredentials | None) -> grpc.StatusCode:
    channel = (
        grpc.insecure_channel(address)
        if credentials is None
        else grpc.secure_channel(address, credentials, options=expecting(ORCHESTRATOR_NAME))
    )
    with channel:
        try:
            check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
            check(b"", timeout=10)
        except grpc.RpcError as error:
            code: grpc.StatusCode = error.code()
            return code
    return grpc.StatusCode.OK


def test_who_has_no_certificate_of_this_authority_is_refused_and_counted(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        authority, control = (server.vault / "authority.pem").read_bytes(), server.control
        other, request = Authority(), SigningRequest()
        theirs = request.answered(authority, other.sign("rogue", request.der))
        attempts = {
            "no_certificate": grpc.ssl_channel_credentials(authority),
            "wrong_authority": mutual_channel(theirs),
            "no_tls": None,
        }
        for reason, credentials in attempts.items():
            assert knock(control, credentials) is grpc.StatusCode.UNAVAILABLE
            poll(partial(has_counted, server, reason))
        assert knock(server.about["address"], grpc.ssl_channel_credentials(authority)) is grpc.StatusCode.OK
        assert knock(server.about["address"], None) is grpc.StatusCode.UNAVAILABLE
    assert server.process.returncode == 0
    said = server.log()
    assert "PRIVATE" not in said
    assert "Handshake failed" not in said  # counted, not printed
    assert (server.vault / "token").read_text().strip() not in said


def test_a_client_needs_the_security_folder(tmp_path: Path, pame_process: Pame) -> None:
    with serving(tmp_path) as server:
        address = server.about["address"]
        there = told(pame_process("nodes", "--on", address, "--security", server.vault))
        assert "no node has joined yet" in there
        wrong = pame_process("nodes", "--on", address, "--security", server.vault, "--token", "guessed")
        assert (wrong.returncode, "wrong token" in wrong.stderr) == (2, True)
        plain = pame_process("nodes", "--on", address, "--token", "guessed")
        assert (plain.returncode, "no orchestrator answers" in plain.stderr) == (1, True)
        nowhere = pame_process("nodes", "--on", address, "--security", tmp_path / "nowhere")
        assert (nowhere.returncode, "copy the orchestrator's folder" in nowhere.stderr) == (2, True)


@pytest.mark.parametrize("missing", ["authority.pem", "token"])
def test_a_node_without_authority_or_token_says_which_file_it_needs(tmp_path: Path, missing: str) -> None:
    for name in {"authority.pem", "token"} - {missing}:
        (tmp_path / name).write_text("something")
    command = [sys.executable, "-m", "node", "--orchestrator", "127.0.0.1:9", "--security", str(tmp_path)]
    done = subprocess.run(
        [*command, "--patience", "0.5"], capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[3]
    )
    assert done.returncode == 1
    assert f"cannot read {tmp_path / missing} (No such file or directory)" in done.stderr.splitlines()[-1]
