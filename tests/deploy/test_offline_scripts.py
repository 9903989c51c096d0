"""The scripts of deploy/offline: they read, they refuse nonsense, and they leave alone what is not theirs."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy.harness import ROOT

OFFLINE = ROOT / "deploy" / "offline"
SCRIPTS = sorted(OFFLINE.glob("*.sh"))


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_good_bash(script: Path) -> None:
    assert run("bash", "-n", script).stderr == ""


@pytest.mark.parametrize("words", [(), ("start",), ("begin", "folder")])
def test_the_engine_script_says_how_it_is_used(words: tuple[str, ...]) -> None:
    done = run(OFFLINE / "engine.sh", *words)
    assert done.returncode == 2
    assert "engine.sh start DIR" in done.stderr


def test_stopping_an_engine_that_never_was_is_no_error(tmp_path: Path) -> None:
    assert run(OFFLINE / "engine.sh", "stop", tmp_path / "never").returncode == 0
    assert not (tmp_path / "never").exists()


def test_a_stale_pid_file_kills_nobody(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as innocent:
        try:
            (tmp_path / "dockerd.pid").write_text(str(innocent.pid))
            assert run(OFFLINE / "engine.sh", "stop", tmp_path).returncode == 0
            assert innocent.poll() is None
            assert list(tmp_path.iterdir()) == []
        finally:
            innocent.kill()


@pytest.mark.requires("docker")
def test_an_engine_that_answers_is_used(tmp_path: Path) -> None:
    done = run(OFFLINE / "engine.sh", "start", tmp_path)
    assert done.returncode == 0
    assert done.stdout.strip() == os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requires("compose")
def test_plugins_that_are_there_are_not_fetched_again() -> None:
    folder = Path(os.environ.get("DOCKER_CONFIG", Path.home() / ".docker"))
    done = run(OFFLINE / "plugins.sh", folder, http_proxy="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "sources.list",
            "# a comment\ndeb [arch=amd64] http://mirror.test/debian bookworm main contrib\n"
            "deb-src http://mirror.test/debian bookworm main\n",
        ),
        (
            "sources.list.d/debian.sources",
            "Types: deb deb-src\n# a comment\nURIs: http://mirror.test/debian\nSuites: bookworm\n"
            "Components: main contrib\n\n"
            "Types: deb-src\nURIs: http://other.test/debian\nSuites: bookworm\nComponents: main\n\n"
            "Enabled: no\nTypes: deb\nURIs: http://off.test/debian\nSuites: bookworm\nComponents: main\n",
        ),
    ],
    ids=["one line", "deb822"],
)
def test_apt_sources_are_found_in_both_formats(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / file).write_text(text)
    done = run("bash", "-euo", "pipefail", "-c", '. "$0" && written_sources "$1"', OFFLINE / "debian.sh", tmp_path)
    assert done.stdout.splitlines() == [f"http://mirror.test/debian bookworm {part}" for part in ("main", "contrib")]
