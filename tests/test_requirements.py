"""A test that needs a tool is skipped where the tool is missing, and fails where PAME_REQUIRE lists it."""

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


def run_without_tools(folder: Path, required: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(Path(__file__).parent / "conftest.py", folder)
    (folder / "test_browser.py").write_text(NEEDS_A_BROWSER)
    environment = {**os.environ, "PATH": str(folder), "PAME_REQUIRE": required}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(folder)]
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
