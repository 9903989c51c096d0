"""The port of /metrics against clients that are slow, many, deaf or talk nonsense; real connections over loopback."""

import asyncio
import gzip
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import Metric, core
from prometheus_client.registry import Collector

from contract.ports import metrics_server
from contract.ports.metrics_server import MalformedRequest, MetricsServer, Request, parse
from contract.ports.refused_requests import RefusedRequests
from tests.harness import until
from tests.node.harness import get, serving

ASK = b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.1 \d{3} [A-Z][ A-Za-z]+\r\n")


class Figures(Collector):
    """One gauge; counts how often it was read."""

    def __init__(self, label: str = "0") -> None:
        self.reads = 0
        self._label = label

    def collect(self) -> Iterable[Metric]:
        self.reads += 1
        gauge = core.GaugeMetricFamily("answer", "Of everything.", labels=["n"])
        gauge.add_metric([self._label], 42)
        yield gauge


@pytest.fixture
def figures() -> Figures:
    return Figures()


@pytest.fixture
def refused() -> RefusedRequests:
    return RefusedRequests()


@pytest.fixture
def server(loop: asyncio.Runner, figures: Figures, refused: RefusedRequests) -> Iterator[MetricsServer]:
    server = MetricsServer(figures, "127.0.0.1", 0, refused)
    loop.run(server.open())
    yield server
    loop.run(server.close())


async def say(port: int, words: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(words)
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_get_head_gzip_and_what_there_is_not() -> None:
    with serving(Figures()) as server:
        url = f"http://127.0.0.1:{server.port}"
        assert 'answer{n="0"} 42.0' in get(server.port)
        request = urllib.request.Request(f"{url}/metrics?x=1", headers={"Accept-Encoding": "br, gzip;q=0.8"})
        with urllib.request.urlopen(request, timeout=20) as packed:
            assert packed.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            assert b'answer{n="0"} 42.0' in gzip.decompress(packed.read())
        with urllib.request.urlopen(urllib.request.Request(f"{url}/metrics", method="HEAD"), timeout=20) as head:
            assert (int(head.headers["Content-Length"]) > 0, head.read()) == (True, b"")
        for path, method, status in (("/", "GET", 404), ("/metrics", "POST", 405)):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url + path, method=method), timeout=20)
            with refused.value as answer:
                assert answer.code == status


async def test_a_request_may_come_byte_by_byte_and_say_no_more(server: MetricsServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for byte in ASK:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0)
    writer.write_eof()
    assert b"42.0" in await reader.read()
    writer.close()


async def test_a_port_in_use_is_an_error_and_a_closed_server_frees_it(server: MetricsServer) -> None:
    with pytest.raises(OSError, match="in use"):
        MetricsServer(Figures(), "127.0.0.1", server.port, RefusedRequests())
    await say(server.port, ASK)
    await server.close()
    await server.close()
    with pytest.raises(ConnectionRefusedError):
        await say(server.port, ASK)
    again = MetricsServer(Figures(), "127.0.0.1", server.port, RefusedRequests())
    await again.open()
    assert b"42.0" in await say(again.port, ASK)
    await again.close()


async def test_among_a_thousand_silent_connections_one_that_asks_is_answered_and_no_thread_is_made(
    server: MetricsServer, refused: RefusedRequests
) -> None:
    silent = []
    for _ in range(10):
        silent += [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(100)]
        assert b"42.0" in await say(server.port, ASK)
    assert len(server.connections) <= metrics_server._CONNECTIONS
    assert refused.counts["crowded"] >= 1000 - metrics_server._CONNECTIONS
    for _, writer in silent:
        writer.close()


async def test_who_never_finishes_a_request_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, server: MetricsServer, refused: RefusedRequests
) -> None:
    monkeypatch.setattr(metrics_server, "_HEAD_S", 0.2)
    assert await say(server.port, b"GET /metrics HTT") == b""
    assert (len(server.connections), refused.counts["slow"]) == (0, 1)


@pytest.mark.parametrize("figures", [Figures("x" * 10_000_000)], ids=["ten megabytes"])
async def test_who_does_not_take_the_answer_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, server: MetricsServer, refused: RefusedRequests
) -> None:
    monkeypatch.setattr(metrics_server, "_ANSWER_S", 0.2)
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", server.port))
        deaf.sendall(ASK)
        await until(lambda: refused.counts["slow"])
    assert len(server.connections) == 0


async def test_when_many_are_connected_the_figures_are_collected_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, server: MetricsServer, figures: Figures
) -> None:
    monkeypatch.setattr(metrics_server, "_KEPT_S", 1000.0)
    for reads in (1, 2):
        assert b"42.0" in await say(server.port, ASK)
        assert figures.reads == reads
    many = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(20)]
    for _ in range(20):
        assert b"42.0" in await say(server.port, ASK)
    assert figures.reads == 2
    for _, writer in many:
        writer.close()


@pytest.mark.parametrize(
    "words",
    [
        b"\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET metrics HTTP/1.1\r\n\r\n",
        b"GET /metrics HTTP/2.0\r\n\r\n",
        b"GET  /metrics HTTP/1.1\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n: empty\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET /metrics HTTP/1.1\nHost: x\r\n\r\n",
        b"GET /metr\0ics HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n" + b"x" * 9000,
        b"x" * 9000,
    ],
)
async def test_what_is_no_request_is_refused_counted_and_harms_nobody(
    words: bytes, server: MetricsServer, refused: RefusedRequests
) -> None:
    answer = await say(server.port, words)
    assert answer == b"" or answer.split(b" ")[1] in (b"400", b"431")
    assert refused.counts["malformed"] == 1
    assert b"42.0" in await say(server.port, ASK)


pieces = st.sampled_from(
    [b"GET", b"HEAD", b" ", b"/metrics", b"?a", b"HTTP/1.1", b"\r\n", b"\r", b"\n", b"Host", b":", b"Accept: ", b"\0",
     b"application/openmetrics-text", b";version=\xff", b"Accept-Encoding: gzip", b",", b"\xc3\xa9"]
)  # fmt: skip
heads = st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=20).map(b"".join))


@given(heads)
@settings(max_examples=500, deadline=None)
def test_every_head_is_a_request_or_malformed(head: bytes) -> None:
    try:
        request = parse(head)
    except MalformedRequest:
        return
    assert request.method.isascii()
    assert request.path.startswith("/")
    assert head.startswith(request.method.encode() + b" " + request.path.encode())


@given(st.sampled_from(["GET", "HEAD"]), st.booleans(), st.booleans(), st.sampled_from(["HTTP/1.0", "HTTP/1.1"]))
def test_a_scraper_is_understood(method: str, openmetrics: bool, packed: bool, version: str) -> None:
    kind = "application/openmetrics-text;version=1.0.0;q=0.6," if openmetrics else ""
    lines = [f"{method} /metrics?name=a {version}", "HOST:here", f"accept: {kind}text/plain", "User-Agent: \xe4\t"]
    lines += ["Accept-Encoding: identity, gzip"] if packed else []
    assert parse("\r\n".join(lines).encode("latin-1")) == Request(method, "/metrics", openmetrics, packed)


def test_whatever_is_said_is_answered_with_http_or_a_closed_connection(
    monkeypatch: pytest.MonkeyPatch, loop: asyncio.Runner, server: MetricsServer
) -> None:
    monkeypatch.setattr(metrics_server, "_HEAD_S", 0.02)

    @given(heads, st.booleans())
    @settings(max_examples=60, deadline=None)
    def one(head: bytes, ended: bool) -> None:
        answer = loop.run(say(server.port, head + (b"\r\n\r\n" if ended else b"")))
        assert answer == b"" or STATUS.match(answer)

    one()


def test_refusals_are_said_once_a_minute_and_at_the_end_however_many_they_are() -> None:
    now, said = [0.0], list[Mapping[str, int]]()
    refused = RefusedRequests(lambda: now[0])
    refused.say = said.append
    for _ in range(600):
        refused.count("malformed")
    now[0] = 61.0
    refused.count("slow")
    refused.count("slow")
    refused.close()
    refused.close()
    assert said == [{"malformed": 1}, {"malformed": 600, "slow": 1}, {"malformed": 600, "slow": 2}]
