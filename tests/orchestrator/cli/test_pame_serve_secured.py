"""`pame serve --security`: certificates that are no good are counted, and clients need the folder."""

import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import grpc
import pytest

from contract.credentials import ORCHESTRATOR_NAME, expecting, mutual_channel
from contract.keypair import SigningRequest
from orchestrator.control.security import Authority
from tests.command import BOUND_S, Service, told
from tests.harness import poll
from tests.orchestrator.cli.harness import Pame, Serve
from tests.orchestrator.control.security.harness import scraped


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def secured(serve: Serve) -> tuple[Service, str]:
    """With the folder `security`, and its control address: nobody says which port it took, so it is given one.

    Somebody else may take that one meanwhile.
    """
    for _ in range(3):
        port = free_port()
        with suppress(AssertionError):
            return serve(
                "--port", port, "--join-port", 0, "--page-port", 0, "--security", "security"
            ), f"127.0.0.1:{port}"
    pytest.fail("it never began to listen")


def has_counted(service: Service, reason: str) -> bool:
    counted = scraped(service.wait_for("listening")["metrics"], "pame_orchestrator_refused_handshakes_total")
    return counted.get(reason, 0) >= 1


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


def test_who_has_no_certificate_of_this_authority_is_refused_and_counted(serve: Serve, tmp_path: Path) -> None:
    service, control = secured(serve)
    authority = (tmp_path / "security" / "authority.pem").read_bytes()
    other, request = Authority(), SigningRequest()
    theirs = request.answered(authority, other.sign("rogue", request.der))
    attempts = {
        "no_certificate": grpc.ssl_channel_credentials(authority),
        "wrong_authority": mutual_channel(theirs),
        "no_tls": None,
    }
    for reason, credentials in attempts.items():
        assert knock(control, credentials) is grpc.StatusCode.UNAVAILABLE
        poll(partial(has_counted, service, reason))
    assert knock(service.address, grpc.ssl_channel_credentials(authority)) is grpc.StatusCode.OK
    assert knock(service.address, None) is grpc.StatusCode.UNAVAILABLE
    service.process.send_signal(signal.SIGTERM)
    printed, _ = service.process.communicate(timeout=BOUND_S)
    assert service.process.returncode == 0
    said = printed + service.log.read_text()
    assert "PRIVATE" not in said
    assert "Handshake failed" not in said  # counted, not printed
    assert (tmp_path / "security" / "token").read_text().strip() not in said


def test_a_client_needs_the_security_folder(serve: Serve, pame_process: Pame) -> None:
    service, _ = secured(serve)
    there = ("nodes", "--on", service.address, "--security", "security")
    assert "no node has joined yet" in told(pame_process(*there))
    wrong = pame_process(*there, "--token", "guessed")
    assert (wrong.returncode, "wrong token" in wrong.stderr) == (2, True)
    plain = pame_process("nodes", "--on", service.address, "--token", "guessed")
    assert (plain.returncode, "no orchestrator answers" in plain.stderr) == (1, True)
    nowhere = pame_process("nodes", "--on", service.address, "--security", "nowhere")
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
