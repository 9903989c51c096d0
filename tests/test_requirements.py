"""Tests that need a tool are skipped without it, or fail if PAME_REQUIRE lists it; those that reach out are edges."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NEEDS_A_BROWSER = """
import pytest

@pytest.mark.requires("chromium")
def test_something_in_a_browser():
    pass
"""

REACHES_OUT = """
import os
{more}
def test_something_beyond_its_process():
    os.system("true")
"""
WAITS = """
import asyncio

async def test_something_after_a_turn_of_the_loop():
    await asyncio.sleep(0)
    assert "this" == "that"
"""


@pytest.mark.parametrize(
    ("text", "required", "options", "code", "words"),
    [
        pytest.param(NEEDS_A_BROWSER, "", (), 0, "needs chromium, which is not on this machine", id="skipped"),
        pytest.param(NEEDS_A_BROWSER, "chromium", (), 1, "PAME_REQUIRE lists it", id="required"),
        pytest.param(NEEDS_A_BROWSER, "chromum", (), 4, "unknown tools ['chromum']", id="misspelt"),
        pytest.param(
            REACHES_OUT.format(more=""), "", ("-m", "not edge"), 1,
            "os.system: mark it with pytest.mark.edge", id="unmarked",
        ),
        pytest.param(
            REACHES_OUT.format(more="from subprocess import run"), "", ("-m", "edge"), 0, "1 passed", id="an-edge"
        ),
        pytest.param(WAITS, "", (), 1, "1 failed", id="coroutine"),
    ],
)  # fmt: skip
def test_a_test_is_run_skipped_or_refused_by_what_it_needs(
    tmp_path: Path, text: str, required: str, options: tuple[str, ...], code: int, words: str
) -> None:
    shutil.copy(Path(__file__).parent / "conftest.py", tmp_path)
    (tmp_path / "test_something.py").write_text(text)
    environment = {**os.environ, "PATH": str(tmp_path), "PAME_REQUIRE": required}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *options, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert (done.returncode, words in done.stdout + done.stderr) == (code, True), done.stdout
