"""Faults that go by the clock, each on real local processes: what it did is in the records, and it ends."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.local import local
from orchestrator.results import Status
from pame.fault_plan_text import read_plan
from tests.harness import Watcher
from tests.orchestrator.backends.harness import on_a_ring
from tests.orchestrator.harness import events_of, rows_of, summary_of

STEP_S = 0.02


@dataclass(frozen=True)
class Done:
    folder: Path

    @property
    def network(self) -> dict[str, Any]:
        return self.summary["network"]  # type: ignore[no-any-return]

    @property
    def summary(self) -> dict[str, Any]:
        return summary_of(self.folder)

    def turns(self, what: str) -> list[dict[str, Any]]:
        return events_of(self.folder, what)

    def nodes(self, what: str) -> list[int]:
        return [event["node"] for event in self.turns(what)]

    def records(self, node: int) -> list[dict[str, float]]:
        """Numbers by column, in the order of the iterations."""
        table = rows_of(self.folder / "records.csv")
        rows = [{key: float(value or "nan") for key, value in row.items()} for row in table]
        return sorted((row for row in rows if row["node"] == node), key=lambda row: row["iteration"])

    def pace(self, node: int, begin: float, end: float) -> float:
        """Seconds from one iteration to the next, of those that ended within a span: the usual one."""
        ends = [row["seconds"] for row in self.records(node) if begin <= row["seconds"] < end]
        assert len(ends) > 2, (node, begin, end)
        return (ends[-1] - ends[0]) / (len(ends) - 1)


def came_back(done: Done, *victims: int) -> None:
    """Each of them took its place again, as often as it had left it, and went on from there."""
    assert sorted(done.nodes("restarted")) == sorted(victims)
    assert done.network["restarts"] == len(victims)
    for event in done.turns("restarted"):
        assert max(row["seconds"] for row in done.records(event["node"])) > event["seconds"]


def restarted(done: Done) -> None:
    assert done.nodes("fault begins") == [2]
    assert done.nodes("left") == [2]
    assert not done.nodes("died")
    came_back(done, 2)
    [begun], [left], [back] = (done.turns(what) for what in ("fault begins", "left", "restarted"))
    assert left["seconds"] < back["seconds"]
    assert back["seconds"] - begun["seconds"] > 0.5


def churned(done: Done) -> None:
    plan = read_plan((done.folder / "plan.jsonl").read_text())
    assert {event.fault for event in plan} == {"churn"}
    planned = {event.window.begin: event.effect.nodes[0] for event in plan}  # type: ignore[union-attr]
    struck = [(event["planned"], event["node"]) for event in done.turns("fault begins")]
    assert len(struck) >= 2  # whoever is not back yet when it is to be killed again is spared
    assert all(planned[moment] == node for moment, node in struck)
    assert sorted(done.nodes("died")) == sorted(node for _, node in struck)
    came_back(done, *done.nodes("died"))


def flapped(done: Done) -> None:
    """Three times down, three times up; nothing is lost, it only waits."""
    for what in ("fault begins", "fault ends"):
        assert sorted(done.nodes(what)) == [0, 0, 0, 1, 1, 1]
    planned = {event["planned"] for event in done.turns("fault begins")}
    assert sorted(planned) == pytest.approx([0.4, 1.2, 2.0])
    assert done.summary["messages"]["lost"] == 0
    longest = max(row["waited_s"] for row in done.records(0))
    assert longest > 0.25  # of the 0.4 s that the link is down


def lost_messages(done: Done) -> None:
    lost = {node: [row for row in done.records(node) if row["lost"]] for node in range(4)}
    assert all(not lost[node] for node in (1, 2, 3))  # only 0>1 loses
    assert sum(row["lost"] for row in lost[0]) == done.summary["messages"]["lost"] > 0
    [begins], [ends] = done.turns("fault begins"), done.turns("fault ends")
    assert (begins["node"], ends["node"]) == (0, 0)
    assert all(begins["iteration"] - 1 <= row["iteration"] <= ends["iteration"] + 1 for row in lost[0])
    first = min(row["iteration"] for row in lost[0])
    [missed] = [row for row in done.records(1) if row["iteration"] == first]
    assert (missed["wanted"], missed["received"]) == (2, 1)
    assert missed["waited_s"] > 0.9  # all its patience: nobody told it


def slow_links(done: Done) -> None:
    """Who waits for the slow one waits for its link; before and after, nobody does."""
    assert set(done.nodes("fault begins")) == set(done.nodes("fault ends")) == {0, 1, 3}  # as senders
    waited = [row for row in done.records(1) if row["waited_s"] > 0.1]
    begins, ends = (done.turns(what)[0]["seconds"] for what in ("fault begins", "fault ends"))
    assert len(waited) >= 3
    assert sum(begins <= row["seconds"] <= ends + 1.0 for row in waited) >= 3


def stopped_and_continued(done: Done) -> None:
    """In each second it stands still for three quarters."""
    assert done.nodes("fault begins") == done.nodes("fault ends") == [1, 1]
    assert {event["mechanism"] for event in done.turns("fault begins")} == {"supervisor"}
    ends = [row["seconds"] for row in done.records(1)]
    gaps = sorted(later - sooner for sooner, later in pairwise(ends))
    assert gaps[-2] > 0.6
    assert done.network["restarts"] == 0


def took_turns(done: Done) -> None:
    assert done.nodes("fault begins") == done.nodes("fault ends") == [1, 2, 1]
    assert [event["planned"] for event in done.turns("fault begins")] == pytest.approx([0.5, 2.0, 3.5])
    for event, over in zip(done.turns("fault begins"), done.turns("fault ends"), strict=True):
        assert done.pace(event["node"], event["seconds"] + 0.1, over["seconds"]) > 3 * STEP_S


def drawn_each_iteration(done: Done) -> None:
    plan = read_plan((done.folder / "plan.jsonl").read_text())
    assert len(plan) == 12
    told = {(event["node"], event["planned"]["iteration"]) for event in done.turns("fault begins")}
    assert told == {(node, event.window.begin) for event in plan for node in event.effect.nodes}  # type: ignore[union-attr]
    assert len({node for node, _ in told}) > 1
    for node, k in told:
        times = {row["iteration"]: row["seconds"] - row["waited_s"] for row in done.records(node)}
        before = {row["iteration"]: row["seconds"] for row in done.records(node)}
        assert times[k] - before[k - 1] > 3 * STEP_S


SLOW = {"kind": "straggler", "nodes": [1, 2], "factor": 5}
CASES: dict[str, tuple[dict[str, Any], Callable[[Done], None]]] = {
    "restart": ({"kind": "restart", "nodes": [2], "at": "600ms", "back_after": "500ms"}, restarted),
    "churn": ({"kind": "churn", "per_minute": 90, "back_after": "400ms", "at": "200ms", "until": "2s"}, churned),
    "flap": ({"kind": "flap", "links": "0-1", "period": "800ms", "duty": 0.5, "at": "400ms", "until": "2.8s"}, flapped),
    "message-loss": ({"kind": "message-loss", "links": "0>1", "loss": 1.0, "at": "500ms", "for": "1s"}, lost_messages),
    "straggler-link": (
        {"kind": "straggler", "nodes": [0], "cause": "link", "delay": "200ms", "at": "500ms", "for": "1500ms"},
        slow_links,
    ),
    "straggler-pause": (
        {"kind": "straggler", "nodes": [1], "cause": "pause", "factor": 4, "cycle": "1s", "at": "500ms", "for": "2s"},
        stopped_and_continued,
    ),
    "rotating": (SLOW | {"pattern": "rotating", "turn": "1500ms", "at": "500ms", "for": "4500ms"}, took_turns),
    "random": (SLOW | {"pattern": "random", "at": {"iteration": 20}, "for": {"iterations": 12}}, drawn_each_iteration),
}


@pytest.mark.parametrize("kind", CASES)
def test_what_it_does_to_real_nodes_is_recorded_and_over_before_the_run(tmp_path: Path, kind: str) -> None:
    fault, did_it = CASES[kind]
    experiment = on_a_ring(
        4, compute={"step": f"{STEP_S}s"}, exchange={"patience": "1s", "exclude_after": 2},
        stop={"iterations": 150, "seconds": "60s"}, faults=[fault],
    )  # fmt: skip
    ending = local(experiment, tmp_path, tmp_path / "run", Watcher())
    assert ending.status is Status.FINISHED
    done = Done(tmp_path / "run")
    assert not done.turns("fault failed")
    for event in (*done.turns("fault begins"), *done.turns("fault ends")):
        by_iteration = isinstance(event["planned"], dict)
        moment = event["iteration"] if by_iteration else event["seconds"]
        assert moment >= (event["planned"]["iteration"] if by_iteration else round(event["planned"], 3))
    did_it(done)
    lasts = [done.records(node)[-1]["iteration"] for node in range(4)]
    assert sorted(lasts)[2:] == [149, 149], "the run ends with the median node"
    assert min(lasts) > 120, "and nobody was left behind"
