"""Curve, records, links, tile and summary are one count: added up after a node died and after links were cut."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.local import local
from orchestrator.backends.simulate import simulate
from orchestrator.number_words import volume
from orchestrator.results import Status
from tests.command import lines_of
from tests.harness import Watcher
from tests.orchestrator.backends.harness import experiment_of
from tests.orchestrator.harness import rows_of, summary_of
from tests.orchestrator.report.oracle import unwrapped

NODES = 4
COPIES = NODES - 1
"""D-PSGD with period 1 on a complete graph: every node gives every other one a message at each iteration."""
BASE: dict[str, Any] = {
    "nodes": NODES,
    "topology": {"kind": "complete"},
    "period": 1,
    "problem": {"kind": "linear", "n": 30, "samples": 20, "test_samples": 10},
    "algorithm": {"kind": "dpsgd", "eta": 0.01},
    "stop": {"iterations": 220},
    "compute": {"step": "4ms"},
    "exchange": {"patience": "40ms", "exclude_after": 2},
    "evaluate": {"every": 20},
}
STRUCK = 30
LINKS_STRUCK = 6
"""To and from one node of four."""
UNDER_WAY = 2
"""On a link at a record, when it is cut or its neighbour dies: more only if no record follows."""
MESSAGE = 1 + 8 * 30
"""Bytes: a flag and the values."""
FAULTS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "killed": {"faults": [{"kind": "kill", "nodes": [3], "at": {"iteration": STRUCK}, "back_after": "1h"}]},
    "killed and back": {"faults": [{"kind": "kill", "nodes": [3], "at": {"iteration": STRUCK}, "back_after": "300ms"}]},
    "cut for a while": {"faults": [{"kind": "link-down", "links": "of(2)", "at": "100ms", "for": "900ms"}]},
    "cut to the end": {"faults": [{"kind": "link-down", "links": "of(2)", "at": "200ms", "for": "1h"}]},
}
KILLED = {"killed": 3, "killed and back": 3}


def table(path: Path) -> list[dict[str, float]]:
    return [{name: float(cell or 0) for name, cell in row.items()} for row in rows_of(path)]


def by_node(rows: list[dict[str, float]], key: str, *names: str) -> Counter[int]:
    sums: Counter[int] = Counter()
    for row in rows:
        sums[int(row[key])] += int(sum(row[name] for name in names))
    return sums


def check_account(folder: Path, killed: int | None = None) -> dict[str, Any]:
    """Add up every file of a run folder; the summary."""
    summary: dict[str, Any] = summary_of(folder)
    records, links = table(folder / "records.csv"), table(folder / "links.csv")
    messages, size = summary["messages"], {**summary["bytes"], "sent": summary["bytes"]["total"]}
    for what in ("sent", "queued", "dropped", "resent", "unreported"):
        column, column_bytes = ("messages", "bytes") if what == "sent" else (what, f"{what}_bytes")
        assert messages[what] == sum(row[column] for row in links)
        assert size[what] == sum(row[column_bytes] for row in links) == MESSAGE * messages[what]
    assert messages["lost"] == sum(row["lost"] for row in links) == sum(row["lost"] for row in records)
    assert messages["recorded"] == sum(row["messages"] for row in records)
    assert size["recorded"] == sum(row["bytes"] for row in records)
    for counts in (messages, size):
        assert counts["recorded"] + counts["unrecorded"] == counts["sent"] + counts["unknown"]
    assert size["values"] + size["support"] + size["stars"] + size["framing"] + size["unreported"] == size["total"]
    given = by_node(links, "sender", "messages", "dropped", "queued", "lost")
    rows = Counter(int(row["node"]) for row in records)
    back = sum(row["node"] == killed and row["iteration"] >= STRUCK for row in records)
    for node in range(NODES):
        if node == killed:  # it began no iteration more before it was struck; its last words are missing
            assert COPIES * rows[node] - messages["unknown"] <= given[node] <= COPIES * (STRUCK + back + 1)
        else:
            assert given[node] - COPIES * rows[node] in (0, COPIES)
    if killed is None:
        assert messages["unknown"] == messages["unreported"] == 0
    check_curve(folder, records, size)
    return summary


def check_curve(folder: Path, records: list[dict[str, float]], size: dict[str, int]) -> None:
    """By iteration, the records before a point; by time, what was sent by then, of which the simulator knows more."""
    points = lines_of(folder / "curve.jsonl")
    for by in ("iteration", "time"):
        curve = [point["bytes"] for point in points if point["by"] == by]
        assert curve == sorted(curve)
        assert curve[-1] <= size["recorded"] + size["unrecorded"] == size["sent"] + size["unknown"]
    for point in points:
        if point["by"] == "iteration":
            assert point["bytes"] == sum(row["bytes"] for row in records if row["iteration"] < point["iteration"])


def check_tile(folder: Path, summary: dict[str, Any]) -> None:
    page = unwrapped((folder / "report.html").read_text())
    payload = volume(summary["bytes"]["total"])
    wire = summary["network"]["wire"]["model"]["total"] if summary["network"] else None
    tile = page[page.index(">Transmitted<") :].partition("<dt>")[0]
    assert f">{payload}<" in tile
    assert (f"{volume(wire)} on the wire" if wire else "payload") in tile
    assert ("on the wire" in tile) is bool(wire)
    assert wire is None or wire > summary["bytes"]["total"] + summary["bytes"]["resent"]


@pytest.mark.parametrize("fault", FAULTS)
def test_on_local_processes_everything_that_counts_bytes_adds_up(tmp_path: Path, fault: str) -> None:
    folder = tmp_path / "run"
    ending = local(experiment_of(**BASE | FAULTS[fault]), tmp_path, folder, Watcher())
    assert ending.status is Status.FINISHED
    summary = check_account(folder, KILLED.get(fault))
    check_tile(folder, summary)
    messages = summary["messages"]
    if fault == "nothing":
        assert messages["sent"] == messages["recorded"] == NODES * COPIES * 220
        assert not any(messages[what] for what in ("queued", "dropped", "resent", "unrecorded"))
    elif fault in ("killed", "cut to the end"):
        assert messages["queued"] > 64
        assert messages["dropped"] > 0
        assert messages["unknown"] <= UNDER_WAY * LINKS_STRUCK
    if fault == "killed":
        assert summary["network"]["deaths"] == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_under_a_virtual_clock_everything_that_counts_bytes_adds_up(tmp_path: Path, fault: str) -> None:
    folder = tmp_path / "run"
    experiment = experiment_of(**BASE | FAULTS[fault] | {"links": {"delay": "1ms"}})
    assert simulate(experiment, tmp_path, folder, Watcher()).status is Status.FINISHED
    summary = check_account(folder, KILLED.get(fault))
    check_tile(folder, summary)
    messages = summary["messages"]
    assert messages["dropped"] == messages["resent"] == messages["unreported"] == messages["unknown"] == 0
    assert (messages["queued"] > 0) == (fault == "cut to the end")
