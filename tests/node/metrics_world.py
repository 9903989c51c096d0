"""A metrics server at work in a thread of its own, so that a plain test can ask it."""

import asyncio
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from prometheus_client.registry import Collector

from contract.ports.metrics_server import MetricsServer
from contract.ports.refused_requests import RefusedRequests


@contextmanager
def serving(collector: Collector, refused: RefusedRequests | None = None) -> Iterator[MetricsServer]:
    server = MetricsServer(collector, "127.0.0.1", 0, refused or RefusedRequests())
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.open(), loop).result(20)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


def get(port: int, accept: str = "text/plain") -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(answer.read().decode())
