"""A page to look at, in the loop of the test."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import entered
from tests.orchestrator.live.harness import Visited, visited


@pytest.fixture
def visit(tmp_path: Path, loop: asyncio.Runner) -> Iterator[Visited]:
    with entered(loop, visited(tmp_path / "runs")) as visit:
        yield visit
