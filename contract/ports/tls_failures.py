"""TLS handshakes that failed, by reason: gRPC tells nobody but its log, so the log is read here.

    I1116 08:44:35.3 8158 ssl_transport_security.cc:2563] Handshake failed with error SSL_ERROR_SSL: error:100000c0:
    SSL routines:OPENSSL_internal:PEER_DID_NOT_RETURN_A_CERTIFICATE: Invalid certificate verification context

The log goes to file descriptor 2. That becomes a pipe: lines of gRPC are counted and kept back, the rest goes on to the
real standard error, where this program's own words go directly.
"""

import atexit
import os
import re
import sys
from collections import Counter
from threading import Thread

_LOG_LINE = re.compile(rb"^[IWEF]\d{4} [\d:.]+ +\d+ \S+:\d+\] ")
_VERBOSITY = "GRPC_VERBOSITY"
_PARTING_S = 1.0
_FAILED = b"Handshake failed with error"
_OTHER = "bad_handshake"
_REASONS = (
    (b"_ALERT_", None),  # the other side refused, and counts it
    (b"PEER_DID_NOT_RETURN_A_CERTIFICATE", "no_certificate"),
    (b"certificate has expired", "expired_certificate"),
    (b"WRONG_VERSION_NUMBER", "no_tls"),
    (b"HTTP_REQUEST", "no_tls"),
    (b"certificate signature failure", "wrong_authority"),
    (b"unable to get local issuer certificate", "wrong_authority"),
    (b"unable to get issuer certificate", "wrong_authority"),
    (b"self signed certificate", "wrong_authority"),
    (b"self-signed certificate", "wrong_authority"),
)


REASONS = tuple(sorted({reason for _, reason in _REASONS if reason} | {_OTHER}))
"""All there are, so that a figure begins with 0."""


def reason_of(line: bytes) -> str | None:
    """Why a handshake was refused here, if that is what the line says."""
    if _FAILED not in line:
        return None
    return next((reason for words, reason in _REASONS if words in line), _OTHER)


def set_verbosity(is_secured: bool) -> None:
    """To be called before grpc is imported: to gRPC, a refused handshake is no more than information."""
    if is_secured:
        os.environ[_VERBOSITY] = "INFO"
    else:
        os.environ.setdefault(_VERBOSITY, "NONE")  # what fails is told in our own words


class TlsFailures:
    """Counts while this process lives; to be made once, in a process where `set_verbosity` was called."""

    def __init__(self) -> None:
        self.refused: Counter[str] = Counter()
        reading, writing = os.pipe()
        self._out = os.dup(2)
        sys.stderr.flush()
        sys.stderr = os.fdopen(os.dup(self._out), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
        os.set_blocking(writing, False)  # a log that nobody reads fast enough must not hold up who writes it
        os.dup2(writing, 2)
        os.close(writing)
        self._thread = Thread(target=self._read, args=(reading,), name="grpc-log", daemon=True)
        self._thread.start()
        atexit.register(self._close)

    def _close(self) -> None:
        """What was said at the very end goes on, too."""
        os.dup2(self._out, 2)  # nobody writes to the pipe any more
        self._thread.join(_PARTING_S)

    def _read(self, pipe: int) -> None:
        with os.fdopen(pipe, "rb") as lines:
            for line in lines:
                reason = reason_of(line)
                if reason is not None:
                    self.refused[reason] += 1
                elif not _LOG_LINE.match(line) or line.startswith(b"F"):
                    os.write(self._out, line)
