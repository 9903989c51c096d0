"""What the page does for whoever holds the token: every change is a POST that shows it, from the page's own origin.

/api/cancel   ends a run                        /api/plan     checks an experiment, and says what it would do
/api/hold     all nodes wait, or go on          /api/start    begins it, or puts it into the queue
/api/offers   what can be done to a node, link  /api/again    the same with another seed
/api/fault    does it                           /api/dequeue  takes one out of the queue, or all
/api/ticket   a download, once: GET /zip/{ticket}
"""

import asyncio
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from contract.run_name import NAME, run_name
from orchestrator.control import NetworkRunState
from orchestrator.control.manual_faults import answer, inject, plan_fault, running
from orchestrator.control.submission_queue import QueuedExperiment
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults.plan_words import planned_words
from orchestrator.experiment.named_files import Files
from orchestrator.live.fault_offers import offers_for_link, offers_for_node
from orchestrator.live.http_security import require
from orchestrator.live.proposals import (
    NO_FILES,
    preview,
    read_proposal,
    ready_experiments,
    text_of_ready,
    with_seed,
)
from orchestrator.live.run_archive import files_of, find_folder, zipped
from orchestrator.live.run_source import RunSource
from pame.errors import PameError

MOST_BODY = 256 * 2**10
"""Of an experiment as text."""
_MOST_TICKETS, _TICKET_S = 16, 60.0
_MOST_SEED = 2**63 - 1


class PageActions:
    def __init__(self, source: RunSource, out: Path, token: str) -> None:
        """`out`: where the run folders are; without a token nothing is done for anybody."""
        self._source = source
        self._out = out
        self._token = token
        self._tickets: dict[str, tuple[Path, float]] = {}
        self._looking = asyncio.Semaphore(1)
        """One plan at a time is drawn: it may take seconds."""
        self._packing = asyncio.Semaphore(2)

    def routes(self) -> list[web.RouteDef]:
        posts = {
            "cancel": self._cancel,
            "hold": self._hold,
            "offers": self._offers,
            "fault": self._fault,
            "plan": self._plan,
            "start": self._start,
            "again": self._again,
            "dequeue": self._dequeue,
            "ticket": self._ticket,
        }
        return [
            *(web.post(f"/api/{name}", self._guarded(handler)) for name, handler in posts.items()),
            web.get("/api/experiments", self._experiments),
            web.get("/api/experiments/{name}", self._experiment),
            web.get("/zip/{ticket}", self._zip),
        ]

    def look(self) -> dict[str, Any]:
        """What is offered now."""
        source, run = self._source, self._source.run
        is_running = source.current is not None and run is not None and run.phase == "running"
        campaign = source.campaign()
        return {
            "writable": bool(self._token),
            "place": source.place,
            "queue": [_waiting(queued) for queued in source.queue.waiting],
            "stoppable": source.current is not None or (campaign is not None and campaign["status"] == "running"),
            "disturbable": is_running and isinstance(run, NetworkRunState),
            "holdable": is_running,
            "held": is_running and run is not None and run.is_held,
        }

    def _guarded(self, handler: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        async def guarded(request: web.Request) -> web.StreamResponse:
            require(request, self._token)
            try:
                return web.json_response(await handler(request), headers={"Cache-Control": "no-store"})
            except PameError as error:
                raise web.HTTPBadRequest(text=f"{error}\n") from None

        return guarded

    async def _cancel(self, request: web.Request) -> Mapping[str, Any]:
        wanted, current = request.query.get("run", ""), self._source.current
        if wanted and not NAME.fullmatch(wanted):
            raise web.HTTPBadRequest(text="run must be the name of a run, as /api/run has it\n")
        is_meant = not wanted or (current is not None and wanted == run_name(current.run))
        return {"was_running": is_meant and self._source.cancel(0)}

    async def _hold(self, request: web.Request) -> Mapping[str, Any]:
        is_held, run = (await _object(request)).get("on"), self._source.run
        if not isinstance(is_held, bool):
            raise web.HTTPBadRequest(text='say {"on": true} or {"on": false}\n')
        if run is None or run.phase != "running":
            raise web.HTTPConflict(text="no run is under way whose nodes could be held\n")
        run.hold(is_held)
        return {"held": is_held}

    async def _offers(self, request: web.Request) -> Mapping[str, Any]:
        asked, run = await _object(request), self._network()
        if isinstance(node := asked.get("node"), int):
            offers = await asyncio.to_thread(offers_for_node, run, node)
        else:
            sender, receiver = _pair(asked.get("link"))
            offers = await asyncio.to_thread(offers_for_link, run, sender, receiver)
        return {"offers": [{"words": offer.words, "fault": offer.fault} for offer in offers]}

    async def _fault(self, request: web.Request) -> Mapping[str, Any]:
        """The answer comes when its nodes have begun, or could not."""
        text, run = await _text(request), self._network()
        events = await asyncio.to_thread(plan_fault, run, text)
        inject(running(run), events)
        told = await answer(run, events)
        return {
            "planned": [planned_words(event) for event in events],
            "begun": list(told.begun),
            "failures": list(told.failures),
            "silent": list(told.silent),
        }

    async def _plan(self, request: web.Request) -> Mapping[str, Any]:
        text = await _text(request)
        async with self._looking:
            variant = await asyncio.to_thread(read_proposal, text)
            found = await asyncio.to_thread(preview, variant, NO_FILES)
        here = len(self._source.members.within_reach())
        return {**found, "here": here}

    async def _start(self, request: web.Request) -> Mapping[str, Any]:
        self._require_place()
        variant = await asyncio.to_thread(read_proposal, await _text(request))
        return self._queued(variant.experiment, NO_FILES)

    async def _again(self, request: web.Request) -> Mapping[str, Any]:
        """Of a run folder, with a seed, or the next one."""
        self._require_place()
        asked = await _object(request)
        folder, seed = asked.get("folder"), asked.get("seed")
        if not isinstance(folder, str) or not (seed is None or (isinstance(seed, int) and 0 <= seed <= _MOST_SEED)):
            raise web.HTTPBadRequest(text='say which run, and with which seed: {"folder": NAME, "seed": 2}\n')
        known = self._source.submitted(folder)
        if known is None:
            root = await asyncio.to_thread(find_folder, self._out, folder)
            if not (text := await asyncio.to_thread(_experiment_in, root)):
                raise web.HTTPNotFound(text="there is no run folder of that name with an experiment in it\n")
            variant = await asyncio.to_thread(read_proposal, text)
            known = variant.experiment, NO_FILES
        experiment, files = known
        chosen = (experiment.seed + 1) % _MOST_SEED if seed is None else seed
        return self._queued(await asyncio.to_thread(with_seed, experiment, chosen), files)

    async def _dequeue(self, request: web.Request) -> Mapping[str, Any]:
        number = (await _object(request)).get("number")
        if number is None:
            return {"removed": self._source.queue.empty()}
        return {"removed": int(isinstance(number, int) and self._source.queue.remove(number))}

    async def _ticket(self, request: web.Request) -> Mapping[str, Any]:
        folder = (await _object(request)).get("folder")
        root = await asyncio.to_thread(find_folder, self._out, folder) if isinstance(folder, str) else None
        if root is None:
            raise web.HTTPNotFound(text="there is no such run folder\n")
        now = time.monotonic()
        self._tickets = {name: one for name, one in self._tickets.items() if one[1] > now}
        while len(self._tickets) >= _MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(16)
        self._tickets[ticket] = (root, now + _TICKET_S)
        return {"path": f"/zip/{ticket}"}

    async def _zip(self, request: web.Request) -> web.StreamResponse:
        """Once for each ticket; a browser does not show it, but keeps it."""
        root, until = self._tickets.pop(request.match_info["ticket"], (None, 0.0))
        if root is None or until < time.monotonic():
            raise web.HTTPNotFound(text="this download is over: ask for it again\n")
        async with self._packing:
            try:
                files = await asyncio.to_thread(files_of, root)
            except PameError as error:
                raise web.HTTPBadRequest(text=f"{error}\n") from None
            headers = {"Content-Type": "application/zip", "Cache-Control": "no-store"}
            headers["Content-Disposition"] = f'attachment; filename="{_plain_name(root.name)}.zip"'
            response = web.StreamResponse(headers=headers)
            await response.prepare(request)
            pieces = zipped(root, files)
            while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                if piece:
                    await response.write(piece)
            return response

    async def _experiments(self, _request: web.Request) -> web.Response:
        found = await asyncio.to_thread(ready_experiments)
        return web.json_response([{"name": one.name, "about": one.about} for one in found])

    async def _experiment(self, request: web.Request) -> web.Response:
        text = await asyncio.to_thread(text_of_ready, request.match_info["name"])
        if text is None:
            raise web.HTTPNotFound
        return web.Response(text=text)

    def _network(self) -> NetworkRunState:
        run = self._source.run
        if run is not None and not isinstance(run, NetworkRunState):
            raise web.HTTPConflict(text="a simulated run takes no faults by hand: put them into its experiment\n")
        return running(run)

    def _require_place(self) -> None:
        if not self._source.place:
            raise web.HTTPConflict(text="nothing is begun here any more: this command ends with its run\n")

    def _queued(self, experiment: Experiment, files: Files) -> Mapping[str, Any]:
        is_next = self._source.current is None and not self._source.queue.waiting
        queued = self._source.queue.add(experiment, files)
        return {"number": queued.number, "name": experiment.name, "seed": experiment.seed, "waits": not is_next}


async def _text(request: web.Request) -> str:
    try:
        return (await request.read()).decode()
    except web.HTTPRequestEntityTooLarge:
        words = f"this is more than the {MOST_BODY // 2**10} KiB that the page takes: use `pame run FILE`\n"
        raise web.HTTPRequestEntityTooLarge(max_size=MOST_BODY, actual_size=MOST_BODY + 1, text=words) from None
    except UnicodeDecodeError:
        raise web.HTTPBadRequest(text="this is no text\n") from None


async def _object(request: web.Request) -> Mapping[str, Any]:
    """What the page sends: a JSON object."""
    try:
        found = json.loads(await _text(request))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise web.HTTPBadRequest(text="this must be a JSON object\n")
    return found


def _pair(link: object) -> tuple[int, int]:
    match link:
        case [int(sender), int(receiver)]:
            return sender, receiver
    raise web.HTTPBadRequest(text='say of which: {"node": 3} or {"link": [3, 4]}\n')


def _experiment_in(root: Path | None) -> str:
    try:
        return (root / "experiment.yaml").read_text(encoding="utf-8") if root is not None else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _waiting(queued: QueuedExperiment) -> Mapping[str, Any]:
    one = queued.experiment
    return {"number": queued.number, "name": one.name, "seed": one.seed, "nodes": one.nodes}


def _plain_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.,=%_-]", "-", name)
