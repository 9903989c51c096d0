"""`pame compare` of a file with conditions, as a user calls it."""

import json
from pathlib import Path

import pytest

from tests.command import call, mistake, told
from tests.orchestrator.campaigns.command import rows_of
from tests.orchestrator.campaigns.compare.builders import small_file
from tests.orchestrator.campaigns.compare.condition_builders import SURVIVAL
from tests.orchestrator.cli.harness import Pame

pytestmark = pytest.mark.timeout(600)  # many small runs take their time on a busy machine


def only_dpsgd() -> str:
    """The small file with one algorithm, and nothing to tune."""
    lines, skipped = [], False
    for line in SURVIVAL.splitlines():
        skipped = line == "  pame:" or (skipped and line.startswith("    "))
        if not skipped:
            lines.append(line.replace(", tune: {algorithm.eta: [0.3, 1.0]}", ""))
    return "\n".join(lines)


def test_algorithms_are_tuned_in_one_condition_and_compared_in_all(tmp_path: Path) -> None:
    shown = told(call(tmp_path, "compare", small_file(tmp_path, SURVIVAL), seconds=500))
    [folder] = (tmp_path / "runs").iterdir()
    rows = rows_of(folder)
    assert {row["condition"] for row in rows if row["stage"] == "tuning"} == {"clean"}
    final = {(row["algorithm"], row["condition"], row["seed"]): row for row in rows if row["stage"] == "comparison"}
    names = ("pame", "pame-as-printed", "dpsgd")
    assert final.keys() == {
        (name, where, seed) for name in names for where in ("clean", "loss", "cut") for seed in (1, 2)
    }
    assert all("condition" not in row for row in rows if row["stage"] == "baseline"), "nobody needs the network"
    for name in names:
        assert len({str(final[name, where, 1]["values"]) for where in ("clean", "loss", "cut")}) == 1
        clean, lossy, cut = (final[name, where, 1] for where in ("clean", "loss", "cut"))
        assert lossy["curve"][-1]["bytes"] < 0.6 * clean["curve"][-1]["bytes"], "three of five messages are not sent"
        [window] = cut["windows"]
        assert window["seconds"] == pytest.approx([0.05, 0.15])
        assert (clean["windows"], lossy["windows"]) == ([], [])
    found = json.loads((folder / "compare.json").read_text())
    assert list(found["conditions"]) == ["clean", "loss", "cut"]
    assert found["tuned_in"] == "clean"
    survival = {(one["algorithm"], one["condition"]): one for one in found["survival"]}
    assert survival["pame", "clean"]["survives"] is None
    assert survival["dpsgd", "cut"]["survives"]["verdict"] == "a look", "two seeds tell nothing"
    assert survival["dpsgd", "cut"]["counted_in"] == "seconds"
    assert "who survives what, as-published" in shown
    assert "dpsgd: a look at loss, cut" in shown
    assert "does not survive" not in (folder / "comparison.svg").read_text()
    assert "Who survives what" in (folder / "report.html").read_text()


def test_on_local_processes_faults_are_where_the_nodes_say_they_were(tmp_path: Path) -> None:
    arguments = ("--backend", "local", "--quick", "--quiet")
    [line] = told(call(tmp_path, "compare", small_file(tmp_path, only_dpsgd()), *arguments, seconds=500)).splitlines()
    rows = {row["condition"]: row for row in rows_of(tmp_path / line) if row["stage"] == "real nodes"}
    assert rows.keys() == {"clean", "loss", "cut"}
    assert {row["status"] for row in rows.values()} == {"finished"}
    [window] = rows["cut"]["windows"]
    begin, end = window["seconds"]
    assert window["fault"] == "partition"
    assert 0.05 <= begin < end, "not before it was planned"
    assert rows["clean"]["windows"] == []
    assert len(list((tmp_path / line / "real").glob("*/summary.json"))) == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("60%}}", "160%}}", "conditions.loss.messages.loss: got 1.6, expected a share"),
        ("tuned_in: clean", "tuned_in: cleen", "tuned_in: there is no condition 'cleen'; did you mean 'clean'?"),
        ("halves, at: 50ms", "halfs, at: 50ms", "conditions.cut.faults.0.shape:"),
    ],
)
def test_a_mistake_is_answered_before_anything_runs(tmp_path: Path, pame: Pame, old: str, new: str, words: str) -> None:
    assert old in SURVIVAL
    said = mistake(pame("compare", small_file(tmp_path, SURVIVAL.replace(old, new))))
    assert words in said
    assert not (tmp_path / "runs").exists()
