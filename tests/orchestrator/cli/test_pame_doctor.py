import json

import pytest

from tests.orchestrator.cli.harness import Pame


def test_doctor_shows_what_works_what_is_missing_and_the_fix(pame_process: Pame) -> None:
    done = pame_process("doctor")
    assert done.returncode == 0, done.stderr
    for name in ("netem", "htb", "NET_ADMIN", "tc", "nft", "engine", "compose", "netns:", "local: runs here"):
        assert name in done.stdout
    findings = json.loads(pame_process("doctor", "--json").stdout)["findings"]
    for finding in (finding for finding in findings if finding["group"] != "ports"):  # those come and go
        assert not finding["fix"] or f"{finding['name']}: {finding['fix']}\n" in done.stdout


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
    done = pame("doctor")
    assert done.returncode == 0
    assert "local: runs here" in done.stdout
    assert "compose: lacks docker, engine, compose" in done.stdout
    assert pame("doctor", "--strict").returncode == 1
