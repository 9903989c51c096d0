"""Links and faults in network namespaces: shaped by the kernel where it can, and healed at the end."""

import json
from csv import DictReader
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.netns import netns
from orchestrator.results import Status
from tests.harness import Watcher
from tests.orchestrator.backends.harness import experiment_of

pytestmark = pytest.mark.requires("root")

FAULTS = [
    {"kind": "link-down", "links": ["0-1"], "at": "300ms", "for": "500ms"},
    {"kind": "degrade", "links": ["2>3"], "rate": 0.1, "at": "500ms", "for": "400ms"},
    {"kind": "kill", "nodes": [3], "at": "700ms", "back_after": "500ms"},
    {"kind": "lossy", "links": ["0-2"], "loss": 0.9, "at": "100ms", "for": "1200ms"},
]


def test_the_kernel_shapes_what_it_can_and_a_killed_node_comes_back_to_its_own_links(tmp_path: Path) -> None:
    experiment = experiment_of(
        nodes=4, topology={"kind": "complete"}, problem={"kind": "linear", "n": 60, "samples": 80, "test_samples": 20},
        links={"delay": "5ms", "rate": "20mbit", "pairs": {"0>2": {"rate": "5mbit"}, "1-3": {"loss": 0.01}}},
        compute={"step": "20ms"}, stop={"iterations": 80}, exchange={"patience": "2s"}, faults=FAULTS,
    )  # fmt: skip
    folder = tmp_path / "run"
    ending = netns(experiment, tmp_path, folder, Watcher())
    assert ending.status is Status.FINISHED
    links = json.loads((folder / "summary.json").read_text())["network"]["links"]
    assert one(links, 0, 2, "rate") == [("htb", 5e6, 5e6)]
    assert one(links, 2, 0, "rate") == [("htb", 2e7, 2e7)]
    assert {mechanism for mechanism, _, _ in one(links, 1, 3, "loss")} <= {"nft", "netem"}
    assert 0.01 in {held for _, _, held in one(links, 1, 3, "loss")}
    assert {mechanism for mechanism, _, _ in one(links, 0, 1, "delay")} <= {"netem", "in-process"}
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert {number: turns(events, number) for number in (0, 1, 3)} == {
        0: {("fault begins", 0), ("fault begins", 1), ("fault ends", 0), ("fault ends", 1)},
        1: {("fault begins", 2), ("fault ends", 2)},
        3: {("fault begins", 0), ("fault begins", 2), ("fault ends", 0), ("fault ends", 2)},
    }
    for event in (event for event in events if event["what"].startswith("fault") and event["number"] == 0):
        assert event["mechanism"] in ("nft", "netem")
        assert event["took"] > 0
        mine = f"{event['node']}>{1 - event['node']}"
        rows = [row for row in event["held"] if (row["link"], row["property"]) == (mine, "cut")]
        assert [(row["asked"], row["held"]) for row in rows] == [(1.0, 1.0)] * (event["what"] == "fault begins")
    with (folder / "connections.csv").open() as file:
        again = {(int(row["sender"]), int(row["receiver"])): int(row["retransmitted"]) for row in DictReader(file)}
    assert again[0, 2] + again[2, 0] > 0  # nine in ten of their packets were lost for a while
    assert [event["node"] for event in events if event["what"] == "restarted"] == [3]
    assert not [event for event in events if event["what"] == "fault failed"]


def turns(events: list[dict[str, Any]], number: int) -> set[tuple[str, int]]:
    """Who said that a fault of the links begins or ends: the kernel did it, and no sooner than planned."""
    told = [event for event in events if event["what"].startswith("fault") and event["number"] == number]
    assert {event["mechanism"] for event in told} <= ({"htb"} if number == 1 else {"nft", "netem"})
    assert all(event["seconds"] >= event["planned"] for event in told)
    return {(event["what"], event["node"]) for event in told}


def one(links: list[dict[str, Any]], sender: int, receiver: int, name: str) -> list[tuple[str, float, float | None]]:
    return [
        (link["mechanism"], link["asked"], link["held"])
        for link in links
        if (link["sender"], link["receiver"], link["property"]) == (sender, receiver, name)
    ]
