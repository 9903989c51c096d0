"""Links and faults in network namespaces: shaped by the kernel where it can, and healed at the end."""

import json
from pathlib import Path
from typing import Any

import pytest
from local_world import Watcher, experiment_of

from orchestrator.backends.netns import netns
from orchestrator.runs import Status

pytestmark = pytest.mark.requires("root")

FAULTS = [
    {"kind": "link-down", "links": ["0-1"], "at": "300ms", "for": "500ms"},
    {"kind": "degrade", "links": ["2>3"], "rate": 0.1, "at": "500ms", "for": "400ms"},
    {"kind": "kill", "nodes": [3], "at": "700ms", "back_after": "500ms"},
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
    cuts = [event for event in events if event["what"].startswith("fault") and event["number"] == 0]
    assert {(event["what"], event["node"]) for event in cuts} == {
        ("fault begins", 0), ("fault begins", 1), ("fault ends", 0), ("fault ends", 1),
    }  # fmt: skip
    for event in cuts:
        assert event["mechanism"] in ("nft", "netem")
        assert event["took"] > 0
        mine = f"{event['node']}>{1 - event['node']}"
        rows = [row for row in event["held"] if (row["link"], row["property"]) == (mine, "cut")]
        assert [(row["asked"], row["held"]) for row in rows] == [(1.0, 1.0)] * (event["what"] == "fault begins")
    assert [event["node"] for event in events if event["what"] == "restarted"] == [3]
    assert not [event for event in events if event["what"] == "fault failed"]


def one(links: list[dict[str, Any]], sender: int, receiver: int, name: str) -> list[tuple[str, float, float | None]]:
    return [
        (link["mechanism"], link["asked"], link["held"])
        for link in links
        if (link["sender"], link["receiver"], link["property"]) == (sender, receiver, name)
    ]
