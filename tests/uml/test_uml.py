"""The guest itself: what comes out of it, what it cannot touch, and what is left when it does not end."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.harness import poll
from tests.uml.harness import REPOSITORY, Result

pytestmark = [pytest.mark.requires("uml"), pytest.mark.xdist_group("uml")]

Guest = Callable[..., Result]


def test_a_guest_says_how_its_program_ended_and_leaves_only_what_is_in_its_folder(guest: Guest, tmp_path: Path) -> None:
    kept, lost = tmp_path / "guest" / "kept", REPOSITORY / f"written-by-a-guest-{os.getpid()}"
    result = guest(("sh", "-c", f"pwd; uname -r >&2; echo kept > {kept}; echo lost > {lost} && cat {lost}; exit 3"))
    lines = result.output.splitlines()
    assert (result.code, lines[0], lines[2]) == (3, str(REPOSITORY), "lost"), result
    assert lines[1] != os.uname().release
    assert kept.read_text() == "kept\n"
    assert not lost.exists()


def test_a_guest_that_hangs_is_ended_with_all_its_processes(guest: Guest, tmp_path: Path) -> None:
    result = guest(("sh", "-c", "echo begun; while :; do sleep 0.1; done"), seconds=30.0)
    assert result.code is None
    assert "begun" in result.output, result
    poll(lambda: not _processes_that_name(tmp_path))


def test_a_program_has_numpy_and_grpc_and_what_it_computes_is_right(guest: Guest) -> None:
    result = guest((sys.executable, "-c", _TWO_THREADS))
    assert (result.code, result.output.strip()) == (0, "[True, True]"), result


_TWO_THREADS = """
from concurrent.futures import ThreadPoolExecutor
import grpc, numpy as np

def is_steady(seed):
    draw = np.random.default_rng(seed).normal(size=(64, 64))
    first = draw @ draw
    return all(((draw @ draw) == first).all() for _ in range(3000))

with ThreadPoolExecutor(2) as threads:
    print(list(threads.map(is_steady, (1, 2))))
"""


def _processes_that_name(folder: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(folder) in path.read_bytes():
                found.append(path.parent.name)
    return found
