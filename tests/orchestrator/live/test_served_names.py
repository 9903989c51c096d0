"""Which `Host` and `Origin` headers name the live page itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.live.served_names import ServedNames, is_own_origin, name_of


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
