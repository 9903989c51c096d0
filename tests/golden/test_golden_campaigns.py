"""A quick study and a quick comparison come to what was recorded; the three claims take minutes: `golden_campaigns`."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.golden.golden_campaigns import differences
from tests.golden.harness import HERE, PAME_COMMAND

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.edge, pytest.mark.timeout(600)]


@pytest.mark.parametrize(("campaign", "result"), [("study", "verdict.json"), ("compare", "compare.json")])
def test_a_campaign_comes_to_what_was_recorded(campaign: str, result: str, tmp_path: Path) -> None:
    recorded = json.loads((HERE / "campaigns" / f"{campaign}.json").read_text(encoding="utf-8"))
    words = [*shlex.split(recorded["command"])[1:], "--out", str(tmp_path), "-q"]
    done = subprocess.run([str(PAME_COMMAND), *words], capture_output=True, text=True, cwd=ROOT, timeout=550)
    assert done.returncode == 0, done.stderr
    [folder] = tmp_path.iterdir()
    assert list(differences(recorded, json.loads((folder / result).read_text(encoding="utf-8")))) == []


def test_a_difference_is_seen() -> None:
    recorded = {"results": [{"rounds": 10.0, "who": "pame"}]}
    assert list(differences(recorded, {"results": [{"rounds": 10.0, "who": "pame", "more": 1}]})) == []
    assert len(list(differences(recorded, {"results": [{"rounds": 10.1, "who": "dpsgd"}]}))) == 2
