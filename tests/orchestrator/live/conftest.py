"""A page to look at, in the loop of the test, and a browser to look with."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.harness import entered
from tests.orchestrator.live.browsing import connected
from tests.orchestrator.live.harness import Visited, visited


@pytest.fixture
def visit(tmp_path: Path, loop: asyncio.Runner) -> Iterator[Visited]:
    with entered(loop, visited(tmp_path / "runs")) as visit:
        yield visit


@pytest.fixture
def browser(loop: asyncio.Runner, chromium: str) -> Iterator[Browser]:
    with entered(loop, connected(chromium)) as browser:
        yield browser
