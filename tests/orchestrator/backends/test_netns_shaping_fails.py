"""A kernel that does not take what a fault asks for, in the middle of a run: tried again, and then said.

`nft` is the real one behind a door that is shut so many times for whoever wants to cut a link.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from orchestrator.backends.netns import netns
from orchestrator.results import Ending, Status
from tests.harness import Watcher
from tests.orchestrator.backends.harness import experiment_of

pytestmark = pytest.mark.requires("root")

DOOR = """#!/bin/sh
[ "$1" = -f ] || exec {real} "$@"
said=$(cat)
case "$said" in
*"add element"*) if {shut}; then echo "Error: the door is shut" >&2; exit 1; fi ;;
esac
printf '%s\\n' "$said" | {real} "$@"
"""
ONCE = "mkdir {room}/$(readlink /proc/self/ns/net) 2>/dev/null"
"""In each namespace: the folder is there the second time."""
ALWAYS = "true"


def run_behind(shut: str, lasts: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ending:
    real = shutil.which("nft")
    assert real is not None
    room = folder / "room"
    room.mkdir()
    path = room / "nft"
    path.write_text(DOOR.format(real=real, shut=shut.format(room=room)))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{room}:{os.environ['PATH']}")
    experiment = experiment_of(
        nodes=3, topology={"kind": "ring"}, problem={"kind": "linear", "n": 20, "samples": 20, "test_samples": 10},
        links={"rate": "20mbit"}, compute={"step": "20ms"}, stop={"iterations": 150}, exchange={"patience": "1s"},
        verify={"when": "never"},
        faults=[{"kind": "link-down", "links": ["0-1"], "at": "500ms", "for": lasts}],
    )  # fmt: skip
    return netns(experiment, folder, folder / "run", Watcher())


def test_what_fails_once_is_tried_again_and_told_when_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_behind(ONCE, "2s", tmp_path, monkeypatch).status is Status.FINISHED
    events = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    begun = [event for event in events if event["what"] == "fault begins"]
    assert {event["node"] for event in begun} == {0, 1}
    assert all(event["seconds"] >= 0.5 + 0.5 for event in begun), "not before the second try"
    assert {event["node"] for event in events if event["what"] == "fault ends"} == {0, 1}


def test_what_keeps_failing_ends_the_run_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = run_behind(ALWAYS, "20s", tmp_path, monkeypatch)
    assert ending.status is Status.FAILED
    assert "cannot be shaped: nft answers" in ending.reason
    assert "the door is shut" in ending.reason
