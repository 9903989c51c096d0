"""Answers that are made once and sent to many."""

import asyncio
import gzip
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

_WORTH_PACKING = 1024


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """JSON, plain and packed."""

    plain: bytes
    packed: bytes

    def response(self, request: web.Request) -> web.Response:
        headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
        if "gzip" not in request.headers.get("Accept-Encoding", "") or not self.packed:
            return web.Response(body=self.plain, content_type="application/json", headers=headers)
        headers["Content-Encoding"] = "gzip"
        return web.Response(body=self.packed, content_type="application/json", headers=headers)


def encode(value: object) -> HttpAnswer:
    """Takes a moment for a large network: to be called in a thread."""
    plain = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    return HttpAnswer(plain, gzip.compress(plain, 1) if len(plain) >= _WORTH_PACKING else b"")


class CachedAnswer:
    """An answer that is made at most once in `seconds`, however many ask for it, and never when nobody does."""

    def __init__(self, make: Callable[[], Awaitable[Any]], seconds: float) -> None:
        self._make = make
        self._seconds = seconds
        self._answer: HttpAnswer | None = None
        self._made_at = 0.0
        self._making = asyncio.Lock()

    async def get(self) -> HttpAnswer:
        async with self._making:
            if self._answer is None or time.monotonic() - self._made_at >= self._seconds:
                value = await self._make()
                self._answer = await asyncio.to_thread(encode, value)
                self._made_at = time.monotonic()
            return self._answer
