"""A kernel of one's own for a test: `guest(program)` boots it, runs the program in it, and says what came out."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.uml.harness import Result, boot, preload_for

Guest = Callable[..., Result]


@pytest.fixture(scope="session")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    return preload_for(tmp_path_factory.mktemp("preload"))


@pytest.fixture
def guest(preload: Path | None, tmp_path: Path) -> Guest:
    def run(program: Sequence[str], seconds: float = 60.0) -> Result:
        return boot(program, tmp_path / "guest", seconds, preload=preload)

    return run


@pytest.fixture
def guest_script(guest: Guest) -> Guest:
    """The same for a script of this folder."""

    def run(name: str, seconds: float = 60.0) -> Result:
        return guest((sys.executable, "-m", f"tests.uml.{name}"), seconds)

    return run
