"""The page's connections: bounded in number and time; what aiohttp says of bad HTTP is counted, not printed."""

import asyncio
import logging
from collections.abc import Callable
from typing import cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from contract.ports.connections import Connections
from contract.ports.refused_requests import MALFORMED, RefusedRequests


def bounded(server: web.Server, connections: Connections, request_s: float) -> Callable[[], asyncio.BaseProtocol]:
    """A protocol factory; a connection has `request_s` for its first request."""
    return lambda: _PageVisit(server(), connections, request_s)


def request_logger(refused: RefusedRequests) -> logging.Logger:
    """For aiohttp: a mistake of ours is logged as ever, one of a visitor is counted, and one may leave unheard."""
    logger = logging.Logger("aiohttp.server", logging.DEBUG)
    logger.addHandler(_Sorter(refused))
    return logger


class _PageVisit(asyncio.Protocol):
    def __init__(self, inner: web.RequestHandler, connections: Connections, request_s: float) -> None:
        self._inner = inner
        self._connections = connections
        self._request_s = request_s

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._inner.connection_made(transport)
        self._connections.enter(self._transport, self._request_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.leave(self._transport)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> None:
        self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


class _Sorter(logging.Handler):
    def __init__(self, refused: RefusedRequests) -> None:
        super().__init__()
        self._refused = refused

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            self._refused.count(MALFORMED)
        elif record.levelno >= logging.WARNING and not isinstance(error, ConnectionError):
            logging.getLogger(record.name).handle(record)
