"""The server of the live page, in the orchestrator's own event loop."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from aiohttp import web
from aiohttp.typedefs import Handler

from contract.ports.connections import Connections, bound, listen
from contract.ports.refused_requests import RefusedRequests
from contract.run_name import run_name
from contract.tasks import cancelled
from orchestrator.control import NetworkRunState
from orchestrator.errors import CannotListen
from orchestrator.live.actions import MOST_BODY, PageActions
from orchestrator.live.assets import load_assets, response_with
from orchestrator.live.cached_answers import CachedAnswer, encode
from orchestrator.live.folders import listing, open_file
from orchestrator.live.http_security import REPORT_POLICY, add_headers, only_as
from orchestrator.live.nodes import targets
from orchestrator.live.page_connections import bounded, request_logger
from orchestrator.live.recorder import Recorder
from orchestrator.live.run_source import RunSource
from orchestrator.live.served_names import ServedNames
from orchestrator.results.files import ReportError

_CONNECTIONS = 128
_REQUEST_S = 10.0
"""From the connection to its first whole request."""
_SEND_S = 60.0
"""A client that has not taken its answer by then is cut off."""
_DOWNLOAD_S = 900.0
"""The same of a whole run folder."""
_IDLE_S = 30.0
_MARGIN_S = 5.0
"""By which our own alarms are later than those of the request and of aiohttp."""
_PARTING_S = 1.0
_LOOK_S, _RUNS_S = 0.5, 2.0
_CHUNK = 1 << 16


class LivePage:
    def __init__(
        self,
        source: RunSource,
        out: Path,
        token: str,
        host: str,
        port: int,
        allowed: Sequence[str] = (),
        refused: RefusedRequests | None = None,
    ) -> None:
        """`out`: where the run folders are; without a token the page is read-only; port 0: any; `allowed`: names of
        the page beside its address; `refused`: who counts bad requests."""
        self.port = port
        self._source = source
        self._out = out
        self._actions = PageActions(source, out, token)
        self._host = host
        self._assets = load_assets()
        self._recorder = Recorder(source, out)
        self._live = CachedAnswer(self._look, _LOOK_S)
        self._happened = CachedAnswer(self._recorder.happened, _LOOK_S)
        self._runs = CachedAnswer(lambda: asyncio.to_thread(listing, out), _RUNS_S)
        self._serving: asyncio.Task[None] | None = None
        self._refused = refused or RefusedRequests()
        self._connections = Connections(_CONNECTIONS, self._refused)
        self._runner = web.AppRunner(
            self._application(ServedNames(host, allowed)),
            logger=request_logger(self._refused),
            handle_signals=False,
            access_log=None,
            keepalive_timeout=_IDLE_S,
            shutdown_timeout=_PARTING_S,
        )

    @property
    def address(self) -> str:
        return f"{self._host}:{self.port}"

    async def open(self) -> None:
        """Begin to listen; raises `CannotListen`."""
        await self._runner.setup()
        web_server = self._runner.server
        if web_server is None:
            raise RuntimeError("the runner has no server")
        visits = bounded(web_server, self._connections, _REQUEST_S)
        try:
            listening = bound(self._host, self.port)
        except OSError as error:
            await self._runner.cleanup()
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
            fix = "choose another port for the page or, with 0, any"
            raise CannotListen(f"cannot show the live page on {self.address}: {reason}; {fix}") from None
        self.port = listening.getsockname()[1]
        self._serving = listen(listening, visits)
        self._recorder.start()

    async def close(self) -> None:
        if self._serving is not None:
            await cancelled(self._serving)
            await self._runner.cleanup()
            await self._recorder.stop()

    def _application(self, names: ServedNames) -> web.Application:
        app = web.Application(middlewares=[self._in_time, only_as(names, self._refused)], client_max_size=MOST_BODY)
        app.on_response_prepare.append(add_headers)
        app.add_routes(
            [
                web.get("/", self._static),
                web.get("/static/{name}", self._static),
                web.get("/api/live", self._answer_live),
                web.get("/api/graph", self._answer_graph),
                web.get("/api/happened", self._answer_happened),
                web.get("/api/run", self._answer_run),
                web.get("/api/runs", self._answer_runs),
                *self._actions.routes(),
                web.get("/runs/{folder}/{inside:.+}", self._file),
                web.get("/sd/nodes", self._targets),
            ]
        )
        return app

    async def _static(self, request: web.Request) -> web.Response:
        name = request.match_info.get("name", "page.html")
        if name not in self._assets:
            raise web.HTTPNotFound
        return response_with(name, self._assets[name])

    async def _answer_live(self, request: web.Request) -> web.Response:
        return (await self._live.get()).response(request)

    async def _answer_graph(self, request: web.Request) -> web.Response:
        return (await asyncio.to_thread(encode, await self._recorder.graph())).response(request)

    async def _answer_happened(self, request: web.Request) -> web.Response:
        return (await self._happened.get()).response(request)

    async def _answer_runs(self, request: web.Request) -> web.Response:
        try:
            return (await self._runs.get()).response(request)
        except ReportError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from None

    async def _answer_run(self, _request: web.Request) -> web.Response:
        """The name of the run whose nodes are at work, or nothing: for the parents of nodes that are paused or away."""
        run = self._source.run
        name = run_name(run.number) if isinstance(run, NetworkRunState) and not run.is_ending else ""
        return web.json_response({"run": name}, headers={"Cache-Control": "no-store"})

    async def _targets(self, _request: web.Request) -> web.Response:
        return web.json_response(targets(self._source.members.all()), headers={"Cache-Control": "no-store"})

    async def _file(self, request: web.Request) -> web.StreamResponse:
        folder, inside = request.match_info["folder"], request.match_info["inside"]
        found = await asyncio.to_thread(open_file, self._out, folder, inside)
        if found is None:
            raise web.HTTPNotFound
        file, kind = found
        with file:
            return await _send(request, file, kind)

    async def _look(self) -> dict[str, Any]:
        return {**self._recorder.state(), **self._actions.look()}

    @web.middleware
    async def _in_time(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A client that does not read its answer holds up nobody but itself, and not for ever."""
        transport = request.transport
        if transport is None:
            raise ConnectionResetError
        longest = _DOWNLOAD_S if request.path.startswith("/zip/") else _SEND_S
        self._connections.allow(transport, longest + _MARGIN_S)
        try:
            async with asyncio.timeout(longest):
                response = await handler(request)
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            transport.abort()
            return web.Response(status=504)
        finally:
            self._connections.allow(transport, _IDLE_S + _MARGIN_S)
        return response


async def _send(request: web.Request, file: IO[bytes], kind: str) -> web.StreamResponse:
    """As long as it is now; a run under way may make it longer meanwhile."""
    left = os.fstat(file.fileno()).st_size
    headers = {"Content-Type": kind, "Cache-Control": "no-cache", "Content-Security-Policy": REPORT_POLICY}
    headers["X-Frame-Options"] = "SAMEORIGIN"
    response = web.StreamResponse(headers=headers)
    response.content_length = left
    await response.prepare(request)
    while left > 0 and request.method != "HEAD" and (chunk := await asyncio.to_thread(file.read, min(left, _CHUNK))):
        await response.write(chunk)
        left -= len(chunk)
    if left and request.method != "HEAD" and request.transport is not None:
        request.transport.abort()  # cut short: better no file than half of one
    return response
