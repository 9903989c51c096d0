"""Who may do what: security headers, the token, the origin of a request, and how many connections there may be."""

import asyncio
import hmac
from collections.abc import Callable

from aiohttp import web

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)
"""A report runs the scripts it holds, in an origin of its own: it can neither load nor reach anything of this page."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_OWN_SITE = ("same-origin", "none")


async def add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    """On every answer, errors too."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Content-Security-Policy", PAGE_POLICY)


def require(request: web.Request, token: str) -> None:
    """Let only this page, or a tool, with the right token pass."""
    if not token:
        raise web.HTTPForbidden(text="this page is read-only: the orchestrator has no token\n")
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    foreign = origin is not None and origin.partition("://")[2] != request.headers.get("Host")
    if foreign or (site is not None and site not in _OWN_SITE):
        raise web.HTTPForbidden(text="a page of another site may not ask for this\n")
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise web.HTTPUnauthorized(text="wrong token\n", headers={"WWW-Authenticate": "Bearer"})


class _Full(asyncio.Protocol):
    """For whoever comes when there are too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()


def at_most(connections: int, server: web.Server) -> Callable[[], asyncio.BaseProtocol]:
    """A protocol factory: visitors must not use up the descriptors that the run needs."""
    return lambda: server() if len(server.connections) < connections else _Full()
