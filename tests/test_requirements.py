"""Tests that need a tool are skipped without it, or fail if PAME_REQUIRE lists it; those that reach out are edges."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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


def run_without_tools(
    folder: Path, required: str, text: str = NEEDS_A_BROWSER, *options: str
) -> subprocess.CompletedProcess[str]:
    shutil.copy(Path(__file__).parent / "conftest.py", folder)
    (folder / "test_browser.py").write_text(text)
    environment = {**os.environ, "PATH": str(folder), "PAME_REQUIRE": required}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *options, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)


def test_without_the_tool_it_is_skipped_with_the_reason(tmp_path: Path) -> None:
    done = run_without_tools(tmp_path, "")
    assert done.returncode == 0
    assert "needs chromium, which is not on this machine" in done.stdout


def test_where_the_tool_is_required_it_fails(tmp_path: Path) -> None:
    done = run_without_tools(tmp_path, "chromium")
    assert done.returncode == 1
    assert "PAME_REQUIRE lists it" in done.stdout


def test_a_misspelt_requirement_is_an_error(tmp_path: Path) -> None:
    done = run_without_tools(tmp_path, "chromum")
    assert done.returncode != 0
    assert "unknown tools ['chromum']" in done.stdout + done.stderr


def test_a_test_that_reaches_out_unmarked_fails_and_says_so(tmp_path: Path) -> None:
    done = run_without_tools(tmp_path, "", REACHES_OUT.format(more=""), "-m", "not edge")
    assert done.returncode == 1
    assert "os.system: mark it with pytest.mark.edge" in done.stdout


def test_a_test_with_a_way_out_at_hand_is_an_edge_by_itself(tmp_path: Path) -> None:
    done = run_without_tools(tmp_path, "", REACHES_OUT.format(more="from subprocess import run"), "-m", "edge")
    assert "1 passed" in done.stdout
