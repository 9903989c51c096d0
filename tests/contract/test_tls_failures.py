"""gRPC's log, read for refused handshakes: captured lines, and a process whose standard error it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contract.ports.tls_failures import reason_of, set_verbosity
from contract.rpc import refusal_pb2

HEAD = b"I1116 08:44:35.319113    8158 ssl_transport_security.cc:2563] Handshake failed with error SSL_ERROR_SSL: "
# grpcio 1.85, by a server that asks for certificates.
CAPTURED = {
    b"error:100000c0:SSL routines:OPENSSL_internal:PEER_DID_NOT_RETURN_A_CERTIFICATE: Invalid certificate verification "
    b"context": "no_certificate",
    b"error:1a000064:ECDSA routines:OPENSSL_internal:BAD_SIGNATURE: certificate signature failure": "wrong_authority",
    b"error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED: unable to get local issuer certificate":
    "wrong_authority",
    b"error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED: certificate has expired":
    "expired_certificate",
    b"error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER: Invalid certificate verification context":
    "no_tls",
    b"error:1000ffff:SSL routines:OPENSSL_internal:SOMETHING_NEW: whatever": "bad_handshake",
}  # fmt: skip


@pytest.mark.parametrize("line", CAPTURED)
def test_a_captured_line_has_its_reason(line: bytes) -> None:
    reason = reason_of(HEAD + line)
    assert reason == CAPTURED[line]
    assert f"REFUSAL_{reason.upper()}" in refusal_pb2.Refusal.DESCRIPTOR.values_by_name


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"Traceback (most recent call last):",
        b"E1116 08:44:34.447746 8147 ssl_transport_security.cc:3238] No match found for server name: other.pame",
        HEAD + b"error:10000415:SSL routines:OPENSSL_internal:SSLV3_ALERT_CERTIFICATE_EXPIRED",
    ],
)
def test_other_lines_are_no_refusals_of_ours(line: bytes) -> None:
    assert reason_of(line) is None


def test_only_lines_of_grpc_are_kept_back(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\n"
        "from contract.ports.tls_failures import TlsFailures\n"
        "counts = TlsFailures()\n"
        "print('our own words', file=sys.stderr)\n"
        f"os.write(2, {HEAD!r} + b'certificate has expired\\n')\n"
        "os.write(2, b'W1116 08:44:34.988090    8153 log.cc:102] Log level INFO\\n')\n"
        "os.write(2, b'a library complains\\n')\n"
        "deadline = time.monotonic() + 20\n"
        "while not counts.refused and time.monotonic() < deadline: time.sleep(0.01)\n"
        "print(dict(counts.refused))\n"
        "raise SystemExit('the end')\n"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment
    )
    assert done.stdout == "{'expired_certificate': 1}\n"
    assert sorted(done.stderr.splitlines()) == ["a library complains", "our own words", "the end"]


def test_grpc_talks_about_handshakes_only_where_somebody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    for before, is_secured, after in (("", False, "NONE"), ("DEBUG", False, "DEBUG"), ("NONE", True, "INFO")):
        monkeypatch.setenv("GRPC_VERBOSITY", before) if before else monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
        set_verbosity(is_secured)
        assert os.environ["GRPC_VERBOSITY"] == after
