"""An orchestrator with its live page, a client of the page, and node processes where a test needs some."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from orchestrator.experiment import Experiment
from orchestrator.live import LivePage
from tests.orchestrator.control.harness import TOKEN, Served, experiment_of, served


@dataclass
class Visited:
    """A page and somebody who looks at it."""

    world: Served
    page: LivePage
    session: aiohttp.ClientSession

    def url(self, path: str) -> str:
        return f"http://{self.page.address}{path}"

    async def json(self, path: str) -> Any:
        async with self.session.get(self.url(path)) as answer:
            assert answer.status == 200, await answer.text()
            assert answer.content_type == "application/json"
            return await answer.json()

    async def get(self, path: str) -> tuple[int, bytes, Any]:
        async with self.session.get(self.url(path)) as answer:
            return answer.status, await answer.read(), answer.headers

    async def post(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.session.post(self.url(path), headers=headers) as answer:
            return answer.status, await answer.text()

    async def act(self, path: str, body: object = "", token: str = TOKEN) -> tuple[int, Any]:
        """A POST as the page makes it: text as it is, anything else as JSON; the answer as JSON, if it was done."""
        text = body if isinstance(body, str) else json.dumps(body)
        headers = {"Authorization": f"Bearer {token}", "Origin": f"http://{self.page.address}"}
        async with self.session.post(self.url(path), data=text.encode(), headers=headers) as answer:
            return answer.status, await (answer.json() if answer.status == 200 else answer.text())

    async def live_until(self, condition: Callable[[Any], object]) -> Any:
        """Look again and again, as the page does; the test is bounded."""
        while not condition(live := await self.json("/api/live")):
            await asyncio.sleep(0.1)
        return live


async def raw(port: int, words: bytes, leave: bool = False) -> bytes:
    """The answer to what no well-behaved client would send; nothing: it hung up. `leave`: does not wait for it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(words)
        if leave:
            writer.write_eof()
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


@asynccontextmanager
async def visited(out: Path, token: str = TOKEN) -> AsyncIterator[Visited]:
    async with served(out) as world, aiohttp.ClientSession() as session:
        page = LivePage(world.desk, out, token, "127.0.0.1", 0)
        await page.open()
        try:
            yield Visited(world, page, session)
        finally:
            await page.close()


def long_run(**settings: Any) -> Experiment:
    """Minutes of steps that wait, so that there is time to look; a test cancels it when it has seen enough."""
    slow: dict[str, Any] = {"name": "looked-at", "compute": {"step": "30ms"}, "stop": {"iterations": 5000}}
    return experiment_of(**(slow | settings))
