"""Who may do what: security headers, the names of the page, the token, the origin of a request."""

import hmac

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from contract.ports.refused_requests import WRONG_HOST, RefusedRequests
from orchestrator.live.served_names import ServedNames, is_own_origin

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-downloads"
)
"""A report runs the scripts it holds, in an origin of its own: it can neither load nor reach anything of this page,
which alone may show it inside."""
_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_OWN_SITE = ("same-origin", "none")


async def add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    """On every answer, errors too; what it has stays."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)


def only_as(names: ServedNames, refused: RefusedRequests) -> Middleware:
    """Answers only who asks for the page by one of its names, from no other site."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        hosts, origins = request.headers.getall("Host", []), request.headers.getall("Origin", [])
        reached = request.transport.get_extra_info("sockname") if request.transport is not None else None
        if len(hosts) != 1 or not names.know(hosts[0], reached[0] if reached else ""):
            refused.count(WRONG_HOST)
            words = "this page is not served under that name; if it should be, start it with --allow-host NAME\n"
            raise web.HTTPMisdirectedRequest(text=words)
        if not all(is_own_origin(origin, hosts[0]) for origin in origins):
            refused.count(WRONG_HOST)
            raise web.HTTPForbidden(text="a page of another site may not ask for this\n")
        return await handler(request)

    return check


def require(request: web.Request, token: str) -> None:
    """Let only this page, or a tool, with the right token pass."""
    if not token:
        raise web.HTTPForbidden(text="this page is read-only: the orchestrator has no token\n")
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None and site not in _OWN_SITE:
        raise web.HTTPForbidden(text="a page of another site may not ask for this\n")
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise web.HTTPUnauthorized(text="wrong token\n", headers={"WWW-Authenticate": "Bearer"})
