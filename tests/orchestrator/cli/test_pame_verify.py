"""`pame verify`: the links of real local processes, measured and told row by row; with strict a miss is fatal."""

import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.command import BOUND_S, begun, mistake, only_run, told, wait_for, written
from tests.orchestrator.backends.harness import lie_of_a_delay
from tests.orchestrator.cli.harness import Pame
from tests.orchestrator.harness import summary_of

LINKED = """
nodes: {nodes}
topology: {kind: complete}
problem: {kind: linear, n: 12, samples: 20, test_samples: 10}
period: 1
stop: {iterations: 5}
links: {links}
"""
HEADER = ["link", "property", "asked", "measured", "error", "mechanism", "verdict", "how"]


def linked(folder: Path, nodes: int = 2, links: str = "{delay: 5ms}", more: str = "") -> Path:
    path = folder / "linked.yaml"
    path.write_text(LINKED.replace("{nodes}", str(nodes)).replace("{links}", links) + more)
    return path


def rows_of(shown: str) -> list[dict[str, str]]:
    """The rows of the table, by the names of its columns."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in shown.splitlines()]
    header = lines.index(HEADER)
    return [dict(zip(HEADER, line, strict=True)) for line in lines[header + 1 :] if re.match(r"\d+→\d+$", line[0])]


def found_in(root: Path) -> list[dict[str, Any]]:
    return list(summary_of(only_run(root))["network"]["verified"]["findings"])


def milliseconds(text: str) -> float:
    value, unit = text.replace("−", "-").split()
    return float(value) * {"s": 1e3, "ms": 1.0, "µs": 1e-3}[unit]


@pytest.fixture
def lie(monkeypatch: pytest.MonkeyPatch) -> None:
    lie_of_a_delay(monkeypatch, 0.3)


def test_every_property_of_every_link_is_a_row_with_what_was_asked_and_what_was_measured(
    pame: Pame, tmp_path: Path
) -> None:
    shown = told(pame("verify", linked(tmp_path, 3, "{delay: 20ms, jitter: 1ms, rate: 20mbit}")))
    rows = rows_of(shown)
    found = {(f"{row['sender']}→{row['receiver']}", row["property"]): row for row in found_in(tmp_path)}
    assert {(row["link"], row["property"]) for row in rows} == {
        (f"{i}→{j}", what) for i in range(3) for j in range(3) if i != j for what in ("delay", "jitter", "rate")
    }
    asked = {"delay": "20 ms", "jitter": "1 ms", "rate": "20 Mbit/s"}
    for row in rows:
        measured = found[row["link"], row["property"]]
        assert (row["asked"], row["mechanism"]) == (asked[row["property"]], "in-process")
        assert (row["verdict"], row["how"]) == (measured["verdict"], measured["how"])
        if row["property"] != "rate" and measured["measured"] is not None:
            off = milliseconds(row["measured"]) - milliseconds(row["asked"])
            assert milliseconds(row["measured"]) == pytest.approx(1e3 * measured["measured"], rel=0.01, abs=0.01)
            assert milliseconds(row["error"].lstrip("+")) == pytest.approx(off, rel=0.05, abs=0.1)
    for what in asked:
        assert re.search(rf"^{what} by in-process, 6 of 6 links: .*; (worst error|none measured)", shown, re.M)


def test_the_worst_40_rows_are_shown_and_the_rest_with_all(pame: Pame, tmp_path: Path) -> None:
    some = told(pame("verify", linked(tmp_path, nodes=7)))
    assert len(rows_of(some)) == 40
    assert "and 2 more rows: --all shows them" in some
    everything = told(pame("verify", tmp_path / "linked.yaml", "--all", "--out", "others"))
    assert len(rows_of(everything)) == 42
    assert "more rows" not in everything


@pytest.mark.usefixtures("lie")
def test_a_link_that_is_not_as_asked_comes_first_and_is_no_error_by_itself(pame: Pame, tmp_path: Path) -> None:
    shown = told(pame("verify", linked(tmp_path, nodes=3)))
    missed = [(row["link"], row["property"]) for row in rows_of(shown) if row["verdict"] == "miss"]
    assert ("0→1", "delay") in missed
    verdicts = [row["verdict"] for row in rows_of(shown)]
    assert verdicts == sorted(verdicts, key=["miss", "unverifiable here", "ok"].index)
    assert re.search(r"^delay by in-process, 6 of 6 links: .*[1-6] miss.*; worst error −", shown, re.M)


@pytest.mark.usefixtures("lie")
@pytest.mark.parametrize("by", ["command", "file"])
def test_with_strict_a_link_that_is_not_as_asked_is_an_error_and_the_table_is_shown_all_the_same(
    pame: Pame, tmp_path: Path, by: str
) -> None:
    file = linked(tmp_path, more="verify: {strict: true}\n" if by == "file" else "")
    done = pame("verify", file, *(["--strict"] if by == "command" else []))
    words = r"^error: verify\.strict: the \w+ of link \d→\d is .* \(in-process\).*: see the table of"
    assert re.search(words, mistake(done, 1))
    assert ("0→1", "delay", "miss") in {(row["link"], row["property"], row["verdict"]) for row in rows_of(done.stdout)}


@pytest.mark.usefixtures("lie")
def test_a_strict_run_does_not_begin_on_links_that_are_not_as_asked(pame: Pame, tmp_path: Path) -> None:
    assert "error: verify.strict: the " in mistake(pame("run", linked(tmp_path), "--strict"), 1)
    folder = only_run(tmp_path)
    assert summary_of(folder)["status"] == "failed"
    assert not (folder / "records.csv").read_text().splitlines()[1:]
    assert (folder / "report.html").is_file()


def test_of_a_sweep_the_links_of_the_first_run_are_measured(pame: Pame, tmp_path: Path) -> None:
    shown = told(pame("verify", linked(tmp_path), "--set", "links.delay=[7ms, 30ms]"))
    assert {row["asked"] for row in rows_of(shown) if row["property"] == "delay"} == {"7 ms"}


def test_an_experiment_that_asks_nothing_of_its_links_is_told_so(pame: Pame, tmp_path: Path) -> None:
    shown = told(pame("verify", linked(tmp_path), "--set", "links={}"))
    assert "this experiment asks nothing of its links: nothing to measure" in shown


def test_what_is_interrupted_is_not_said_to_ask_nothing(tmp_path: Path) -> None:
    file = linked(tmp_path, links="{delay: 2s, jitter: 10ms}")  # takes seconds to measure
    with begun(tmp_path, "verify", file) as verifying:
        wait_for(lambda: written(tmp_path, "runs/*/events.jsonl"), verifying)  # nodes have their places
        verifying.send_signal(signal.SIGINT)
        shown, errors = verifying.communicate(timeout=BOUND_S)
    assert verifying.returncode == 130, errors
    assert "nothing to measure" not in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backend", "moon"], "there is no backend 'moon'; use local or netns"),
        (["--backend", "simulate"], "simulated links are as asked by construction: verify them on local or netns"),
        (["--set", "links.delay=fast"], "links.delay"),
        (["--set", "verify.strict=perhaps"], "verify.strict"),
        (["--on", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(pame: Pame, tmp_path: Path, arguments: list[str], says: str) -> None:
    assert says in mistake(pame("verify", linked(tmp_path), *arguments), 1 if "--on" in arguments else 2)
    assert not (tmp_path / "runs").exists()


def test_a_file_that_is_not_there_is_one_line(pame: Pame, tmp_path: Path) -> None:
    assert "nowhere.yaml" in mistake(pame("verify", "nowhere.yaml"))
    assert not (tmp_path / "runs").exists()
