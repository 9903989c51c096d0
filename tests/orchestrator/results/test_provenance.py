"""provenance.json: what made a folder, without tokens, begun and completed; and the footer that shows it."""

import hashlib
import json
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.plugins import VARIABLE
from orchestrator.report.provenance import provenance_footer
from orchestrator.results import begin_provenance, end_provenance
from orchestrator.results.provenance import safe_command
from tests.json_strategies import JSON

ROOT = Path(__file__).parents[3]


def test_it_is_there_from_the_begin_and_complete_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    began = begin_provenance(tmp_path / "run")
    file = tmp_path / "run" / "provenance.json"
    first = json.loads(file.read_text())
    assert (first["ended"], first["load_after"]) == (None, None)
    end_provenance(tmp_path / "run", began)
    last = json.loads(file.read_text())
    assert last["started"] == first["started"] <= last["ended"]
    assert last["ended"].endswith("Z")
    assert last["load_before"] >= 0 <= last["load_after"]
    assert (last["python"], last["numpy"]) == (platform.python_version(), np.__version__)
    assert last["cores"] >= 1
    assert "openblas" in last["blas"].lower() or last["blas"]
    assert platform.release() in last["kernel"]


def test_the_commit_is_that_of_the_checkout(tmp_path: Path) -> None:
    head = subprocess.run(
        ("git", "-C", str(ROOT), "rev-parse", "HEAD"), capture_output=True, text=True, timeout=60, check=False
    )
    found = begin_provenance(tmp_path)
    if head.returncode:
        assert (found.commit, found.dirty) == (None, None)
    else:
        assert found.commit == head.stdout.strip()
        assert found.dirty in (True, False)


def test_plugins_are_named_without_their_place_and_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = tmp_path / "secret-place" / "mine.py"
    plugin.parent.mkdir()
    plugin.write_text("FAULTS = [1]\n")
    monkeypatch.setenv(VARIABLE, str(plugin))
    (tmp_path / "run").mkdir()
    begin_provenance(tmp_path / "run")
    text = (tmp_path / "run" / "provenance.json").read_text()
    assert json.loads(text)["plugins"] == [
        {"name": "mine.py", "sha256": hashlib.sha256(plugin.read_bytes()).hexdigest()}
    ]
    assert "secret-place" not in text


def test_a_token_never_reaches_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAME_TOKEN", "sesame42")
    monkeypatch.setattr(
        sys, "argv", ["/home/me/pame", "run", "--token", "open-up", "--token=other", "--set", "name=sesame42"]
    )
    begin_provenance(tmp_path)
    text = (tmp_path / "provenance.json").read_text()
    assert json.loads(text)["command"] == "pame run --token HIDDEN --token=HIDDEN --set name=HIDDEN"
    assert not any(secret in text for secret in ("sesame42", "open-up", "abracadabra"))


WORDS = st.lists(st.text("xyz-= '", max_size=12), max_size=6)


@given(WORDS, WORDS, st.text("abcdefgh", min_size=8, max_size=12), st.integers(0, 4))
def test_wherever_a_token_stands_it_is_hidden(before: list[str], after: list[str], token: str, form: int) -> None:
    forms = (["--token", token], [f"--token={token}"], [f"--join-token={token}"], [token], [f"x{token}y"])
    words = [*before, *forms[form], *after]
    assert token not in safe_command(words, token)
    if form < 3:
        assert token not in safe_command(words)


def test_the_footer_says_what_made_the_results(tmp_path: Path) -> None:
    content = {
        "version": "1.2", "commit": "a" * 40, "dirty": True, "command": "pame run <b>", "python": "3.11.7",
        "numpy": "2.0", "blas": "openblas, 1 thread", "grpc": "1.6", "torch": None, "kernel": "Linux 6", "cpu": "EPYC",
        "cores": 2, "started": "2026-01-01T00:00:00Z", "load_before": 0.5, "ended": None, "load_after": None,
        "plugins": [{"name": "mine.py", "sha256": "c" * 64}],
    }  # fmt: skip
    (tmp_path / "provenance.json").write_text(json.dumps(content))
    footer = provenance_footer(tmp_path)
    for words in (
        "PaME Testbed 1.2, commit aaaaaaaaaaaa, with changes that are not in it", "pame run &lt;b&gt;",
        f"mine.py (SHA-256 {'c' * 16})", "NumPy 2.0", "torch not installed", "2 cores",
        "load 0.5 before, not recorded after", "2026-01-01T00:00:00Z to not ended (UTC)",
    ):  # fmt: skip
        assert words in footer
    (tmp_path / "provenance.json").write_text(json.dumps({**content, "commit": None, "dirty": None}))
    assert "PaME Testbed 1.2, an installed package" in provenance_footer(tmp_path)


@given(JSON)
def test_whatever_the_file_holds_the_footer_is_made(tmp_path_factory: pytest.TempPathFactory, junk: object) -> None:
    folder = tmp_path_factory.getbasetemp() / "junk"
    folder.mkdir(exist_ok=True)
    keys = ("version", "commit", "command", "cpu", "cores", "load_before", "started")
    content = {**dict.fromkeys(keys, junk), "plugins": [junk, {"name": junk}]}
    (folder / "provenance.json").write_text(json.dumps(content))
    footer = provenance_footer(folder)
    assert footer.count("<dt>") == 6
    assert footer.endswith("</dl>")


def test_an_old_folder_says_that_nothing_was_recorded(tmp_path: Path) -> None:
    assert "not recorded" in provenance_footer(tmp_path)
