"""Asks a gRPC server for its health: `python -m node.health_check 127.0.0.1:4753`; exit code 0 if it serves.

Containers do this every so often, 32 of them on two cores: importing grpc costs half a second of CPU time each, this
costs a tenth of that. So it speaks just enough HTTP/2 for one unary call, with the standard library only.
"""

import socket
import struct
import sys
from collections.abc import Iterator
from io import BufferedIOBase

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST, _SETTINGS, _GOAWAY = 0, 1, 3, 4, 7
_END_STREAM, _END_HEADERS = 0x1, 0x4
_STREAM = 1
_TIMEOUT_S = 3.0
_FRAME_BYTES = 1 << 20
_FRAMES = 100
_EMPTY_REQUEST = bytes(5)
"""Not compressed, no bytes: the health of the server as a whole."""
_SERVING = b"\x08\x01"
"""HealthCheckResponse with status 1."""


def is_serving(host: str, port: int) -> bool:
    """Whether grpc.health.v1.Health/Check says SERVING; OSError if nobody answers."""
    with socket.create_connection((host, port), _TIMEOUT_S) as connection, connection.makefile("rwb") as stream:
        stream.write(_PREFACE + _frame(_SETTINGS, 0, 0, b""))
        stream.write(_frame(_HEADERS, _END_HEADERS, _STREAM, _headers(f"{host}:{port}")))
        stream.write(_frame(_DATA, _END_STREAM, _STREAM, _EMPTY_REQUEST))
        stream.flush()
        body = b""
        for kind, flags, number, payload in _frames(stream):
            if kind == _GOAWAY or (number == _STREAM and kind == _RST):
                return False
            if number == _STREAM and kind == _DATA:
                body += payload
            if number == _STREAM and flags & _END_STREAM:
                break
        return body[5:] == _SERVING


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _headers(authority: str) -> bytes:
    """HPACK literals without indexing and without Huffman coding (RFC 7541, 6.2.2)."""
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/grpc.health.v1.Health/Check",
        ":authority": authority,
        "te": "trailers",
        "content-type": "application/grpc",
    }
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in fields.items())


def _text(text: str) -> bytes:
    return bytes([len(text)]) + text.encode("ascii")  # shorter than 127: one byte of length


def _frames(stream: BufferedIOBase) -> Iterator[tuple[int, int, int, bytes]]:
    for _ in range(_FRAMES):
        head = stream.read(9)
        if len(head) < 9:
            return
        size, kind, flags, number = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
        if size > _FRAME_BYTES:
            return
        yield kind, flags, number & 0x7FFFFFFF, stream.read(size)


def main(words: list[str]) -> int:
    """0: serves; 1: does not; 2: no such address."""
    host, _, port = words[0].rpartition(":") if len(words) == 1 else ("", "", "")
    if not host or not port.isdecimal():
        print("usage: python -m node.health_check HOST:PORT", file=sys.stderr)
        return 2
    try:
        serving = is_serving(host, int(port))
    except OSError as error:
        print(f"{words[0]}: {error}", file=sys.stderr)
        return 1
    print("serving" if serving else "not serving")
    return 0 if serving else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
