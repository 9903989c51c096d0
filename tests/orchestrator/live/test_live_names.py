"""The live page against other names, other sites and bad HTTP; real HTTP over loopback."""

import asyncio
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.ports.refused_requests import RefusedRequests
from orchestrator.live import LivePage
from orchestrator.live.served_names import ServedNames, is_own_origin, name_of
from tests.orchestrator.control.harness import served
from tests.orchestrator.live.harness import raw, visited

SEED = 12
MISSING = ["/nowhere", "/runs/x/experiment.yaml"]
PATHS = ["/", "/api/live", "/api/runs", "/api/run", "/sd/nodes", "/static/live.js", *MISSING]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Host: evil.example:{port}", 421),
        ("Host: evil.example", 421),
        ("Host:", 421),
        ("X: no host at all", 421),
        ("Host: localhost:{port}\r\nOrigin: http://evil.example", 403),
        ("Host: localhost:{port}\r\nOrigin: http://localhost:3000", 403),
        ("Host: localhost:{port}\r\nOrigin: null", 403),
        ("Host: localhost:{port}\r\nOrigin: http://localhost:{port}", 200),
        ("Host: 127.0.0.1:{port}", 200),
        ("Host: [::1]:{port}", 200),
        ("Host: lab.example", 200),
    ],
)
async def test_the_page_answers_only_to_its_own_names_and_its_own_site(
    tmp_path: Path, headers: str, status: int
) -> None:
    refused = RefusedRequests()
    async with asyncio.timeout(60), served(tmp_path) as world:
        page = LivePage(world.desk, tmp_path, "token", "127.0.0.1", 0, ["lab.example"], refused)
        await page.open()
        for path in PATHS:
            words = f"GET {path} HTTP/1.0\r\n{headers.format(port=page.port)}\r\n\r\n"
            answer = await raw(page.port, words.encode())
            found = 404 if path in MISSING else 200
            assert int(answer.split(b" ", 2)[1]) == (found if status == 200 else status), path
            assert b"X-Frame-Options: DENY" in answer
            assert (b"--allow-host" in answer) == (status == 421)
        assert refused.counts["wrong_host"] == (0 if status == 200 else len(PATHS))
        await page.close()


LIKE_HTTP = [
    b"GET /api/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
    b"POST /api/cancel HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n",
    b"GET http://evil:99999/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /runs/%ff%00/..%2f HTTP/1.1\r\nHost: localhost\r\nCookie: \xff\xfe\r\n\r\n",
]


def nonsense(draw: random.Random) -> bytes:
    """Something like HTTP with a mistake in it, or nothing like it."""
    words = bytearray(draw.choice(LIKE_HTTP))
    for _ in range(draw.randrange(4)):
        words[draw.randrange(len(words))] = draw.randrange(256)
    return bytes(words)


async def test_bad_http_is_counted_in_one_line_and_never_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with visited(tmp_path) as visit:
        said: list[Mapping[str, int]] = []
        draw, refused = random.Random(SEED), visit.page._refused
        refused.say = said.append
        for _ in range(40):
            await asyncio.gather(*(raw(visit.page.port, nonsense(draw), leave=True) for _ in range(15)))
        refused.close()
        assert refused.counts["malformed"] > 200
        assert said[0] in ({"malformed": 1}, {"wrong_host": 1})
        assert len(said) == 2
        assert (await visit.json("/api/live"))["phase"] == "idle"
    assert caplog.records == []
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("bound", "allowed", "host", "reached", "known"),
    [
        ("127.0.0.1", [], "127.0.0.1:8080", "127.0.0.1", True),
        ("127.0.0.1", [], "LOCALHOST:9999", "127.0.0.1", True),
        ("127.0.0.1", [], "[::1]:8080", "127.0.0.1", True),
        ("127.0.0.1", [], "evil.example", "127.0.0.1", False),
        ("127.0.0.1", [], "evil.example:8080", "127.0.0.1", False),
        ("127.0.0.1", [], "localhost.evil.example:8080", "127.0.0.1", False),
        ("127.0.0.1", [], "localhost@evil.example", "127.0.0.1", False),
        ("127.0.0.1", [], "", "127.0.0.1", False),
        ("127.0.0.1", [], "localhost:8080, evil.example", "127.0.0.1", False),
        ("0.0.0.0", [], "localhost:8080", "172.18.0.2", True),
        ("0.0.0.0", [], "192.168.1.5:8080", "192.168.1.5", True),
        ("::", [], "192.168.1.5:8080", "::ffff:192.168.1.5", True),
        ("0.0.0.0", [], "192.168.1.6:8080", "192.168.1.5", False),
        ("0.0.0.0", [], "orchestrator:8080", "172.18.0.2", False),
        ("0.0.0.0", ["orchestrator"], "orchestrator:8080", "172.18.0.2", True),
        ("0.0.0.0", ["Orchestrator:8080", "lab.example"], "orchestrator", "172.18.0.2", True),
        ("10.0.0.7", [], "10.0.0.7:8080", "10.0.0.7", True),
        ("10.0.0.7", [], "localhost:8080", "10.0.0.7", False),
        ("lab.example", [], "lab.example:8080", "10.0.0.7", True),
        ("localhost", [], "127.0.0.1:8080", "127.0.0.1", True),
    ],
)
def test_a_page_is_known_by_its_own_names_only(
    bound: str, allowed: list[str], host: str, reached: str, known: bool
) -> None:
    assert ServedNames(bound, allowed).know(host, reached) is known


@given(st.text(max_size=40))
def test_any_text_is_a_host_or_none(text: str) -> None:
    name = name_of(text)
    assert name is None or (name == name.lower() and name in text.lower())
    assert ServedNames("127.0.0.1").know(text, "127.0.0.1") is (name in ("localhost", "127.0.0.1", "::1"))


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://localhost:8080", "localhost:8080", True),
        ("https://lab.example", "Lab.example", True),
        ("http://localhost:3000", "localhost:8080", False),
        ("http://localhost", "localhost:8080", False),
        ("null", "localhost:8080", False),
        ("localhost:8080", "localhost:8080", False),
        ("http://evil.example", "localhost:8080", False),
        ("http://localhost:8080.evil.example", "localhost:8080", False),
        ("", "localhost:8080", False),
    ],
)
def test_an_origin_is_the_pages_own_or_not(origin: str, host: str, own: bool) -> None:
    assert is_own_origin(origin, host) is own
