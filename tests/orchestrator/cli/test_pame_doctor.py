import json

import pytest

from tests.command import told
from tests.orchestrator.cli.harness import Pame


def test_doctor_shows_what_works_what_is_missing_and_the_fix(pame_process: Pame) -> None:
    shown = told(pame_process("doctor"))
    for name in ("netem", "htb", "NET_ADMIN", "tc", "nft", "engine", "compose", "netns:", "local: runs here"):
        assert name in shown
    findings = json.loads(pame_process("doctor", "--json").stdout)["findings"]
    for finding in (finding for finding in findings if finding["group"] != "ports"):  # those come and go
        assert not finding["fix"] or f"{finding['name']}: {finding['fix']}\n" in shown


def test_doctor_as_json_names_every_finding_and_backend(pame: Pame) -> None:
    said = json.loads(pame("doctor", "--json").stdout)
    assert said["backends"]["simulate"] == {"works": True, "missing": []}
    assert {finding["group"] for finding in said["findings"]} == {"kernel", "rights", "tools", "docker", "ports"}
    for finding in said["findings"]:
        assert finding["works"] == (not finding["fix"])
        assert finding["needed_for"]
        assert finding["found"]


def test_doctor_fails_only_if_it_is_strict_and_something_is_missing(pame: Pame) -> None:
    findings = json.loads(pame("doctor", "--json").stdout)["findings"]
    lacks = any(not finding["works"] and not finding["optional"] for finding in findings)
    assert pame("doctor").returncode == 0
    assert pame("doctor", "--strict").returncode == (1 if lacks else 0)


def test_doctor_without_any_tool_says_that_local_runs_do_not_need_them(
    pame: Pame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    shown = told(pame("doctor"))
    assert "local: runs here" in shown
    assert "compose: lacks docker, engine, compose" in shown
    assert pame("doctor", "--strict").returncode == 1
