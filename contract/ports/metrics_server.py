"""Serves /metrics over HTTP/1 from the event loop: one request per connection, bounded in size, number and time."""

import asyncio
import gzip
import re
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from prometheus_client import CollectorRegistry, exposition
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from contract.ports.connections import Connections, bound, listen
from contract.ports.refused_requests import MALFORMED, RefusedRequests
from contract.tasks import cancelled

_PATH = "/metrics"
_CONNECTIONS = 64
_HEAD_BYTES = 8192
_HEAD_S = 5.0
_ANSWER_S = 10.0
_KEPT_S, _FEW = 0.1, 8
"""When more than a few are connected, the figures are collected no more often than this."""
_PLAIN = "text/plain; version=0.0.4; charset=utf-8"
_BLANK = b"\r\n\r\n"
_REQUEST_LINE = re.compile(r"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.[01]")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class MalformedRequest(Exception):
    """Not HTTP/1 as a scraper speaks it."""


@dataclass(frozen=True, slots=True)
class Request:
    """What counts of a request."""

    method: str
    path: str
    """Without its query."""
    wants_openmetrics: bool = False
    """Prometheus' newer format."""
    takes_gzip: bool = False


def parse(head: bytes) -> Request:
    """From the request line and the headers, without the blank line at their end."""
    text = head.decode("latin-1")
    if _CONTROL.search(text.replace("\r\n", "")):
        raise MalformedRequest("not a text")
    first, *lines = text.split("\r\n")
    if (line := _REQUEST_LINE.fullmatch(first)) is None:
        raise MalformedRequest("no request line of HTTP/1")
    fields = {}
    for header in lines:
        if (field := _FIELD.fullmatch(header)) is None:
            raise MalformedRequest("no header field")
        fields[field[1].lower()] = field[2].strip()
    kinds, codings = _choices(fields.get("accept", "")), _choices(fields.get("accept-encoding", ""))
    return Request(line[1], line[2].partition("?")[0], "application/openmetrics-text" in kinds, "gzip" in codings)


class MetricsServer:
    """From open to close; its port is known before."""

    def __init__(self, collector: Collector, host: str, port: int, refused: RefusedRequests) -> None:
        """At http://host:port/metrics; port 0 takes a free one. OSError if the port is taken."""
        self._registry = CollectorRegistry()
        self._registry.register(collector)
        self._refused = refused
        self._listening = bound(host, port)
        self.port: int = self._listening.getsockname()[1]
        self.connections = Connections(_CONNECTIONS, refused)
        self._serving: asyncio.Task[None] | None = None
        self._kept: dict[tuple[bool, bool], tuple[float, bytes]] = {}

    async def open(self) -> None:
        self._serving = listen(self._listening, lambda: _MetricsVisit(self))

    async def close(self) -> None:
        """Free the port; a second call does nothing."""
        await cancelled(self._serving)
        self._listening.close()
        self.connections.close()

    def answer(self, head: bytes) -> bytes:
        try:
            request = parse(head)
        except MalformedRequest as error:
            return self.refuse(HTTPStatus.BAD_REQUEST, str(error))
        if request.method not in ("GET", "HEAD"):
            return _text(HTTPStatus.METHOD_NOT_ALLOWED, "ask with GET", {"Allow": "GET, HEAD"})
        if request.path != _PATH:
            return _text(HTTPStatus.NOT_FOUND, f"there is only {_PATH}")
        answer = self._figures(request)
        return answer if request.method == "GET" else answer.partition(_BLANK)[0] + _BLANK

    def refuse(self, status: HTTPStatus, why: str) -> bytes:
        """The answer to what is no request, counted."""
        self._refused.count(MALFORMED)
        return _text(status, why)

    def _figures(self, request: Request) -> bytes:
        form = request.wants_openmetrics, request.takes_gzip
        made_at, answer = self._kept.get(form, (float("-inf"), b""))
        if len(self.connections) <= _FEW or time.monotonic() - made_at >= _KEPT_S:
            answer = self._collect(*form)
            self._kept[form] = time.monotonic(), answer
        return answer

    def _collect(self, in_openmetrics: bool, in_gzip: bool) -> bytes:
        headers = {"Vary": "Accept, Accept-Encoding"}
        if in_openmetrics:
            made = openmetrics.generate_latest(self._registry)  # type: ignore[no-untyped-call]
            body, headers["Content-Type"] = made, openmetrics.CONTENT_TYPE_LATEST
        else:
            body, headers["Content-Type"] = exposition.generate_latest(self._registry), _PLAIN
        if in_gzip:
            body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
        return _response(HTTPStatus.OK, headers, body)


class _MetricsVisit(asyncio.Protocol):
    """One connection: a request, an answer, the end."""

    def __init__(self, server: MetricsServer) -> None:
        self._server = server
        self._head = b""
        self._answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._server.connections.enter(self._transport, _HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.leave(self._transport)

    def data_received(self, data: bytes) -> None:
        if self._answered:
            return
        self._head += data
        head, end, _ = self._head.partition(_BLANK)
        if end:
            self._say(self._server.answer(head))
        elif len(self._head) > _HEAD_BYTES:
            self._say(self._server.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too long"))

    def eof_received(self) -> bool:
        """Who has asked is answered, even if it says no more."""
        return self._answered

    def _say(self, answer: bytes) -> None:
        self._answered, self._head = True, b""
        self._server.connections.allow(self._transport, _ANSWER_S)
        self._transport.write(answer)
        self._transport.close()


def _choices(value: str) -> list[str]:
    """Of a list such as `gzip;q=0.5, br`."""
    return [choice.partition(";")[0].strip() for choice in value.split(",")]


def _text(status: HTTPStatus, words: str, headers: dict[str, str] | None = None) -> bytes:
    return _response(status, {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}, f"{words}\n".encode())


def _response(status: HTTPStatus, headers: dict[str, str], body: bytes) -> bytes:
    fields = {**headers, "Content-Length": str(len(body)), "Connection": "close"}
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + _BLANK + body
