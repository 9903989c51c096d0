"""Run folders with faults: a ring of four nodes, a step a second, worked out by hand; and larger ones to look at."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from orchestrator.results.typed_json import to_text
from pame.fault_effects import CutEffect, Effect, FaultEvent, KillEffect, Window
from pame.fault_plan_text import plan_lines

MakeRun = Callable[..., Path]
"""Makes a run folder; keywords change its plan."""
HEADER = "node,iteration,seconds,waited_s,wanted,received,coverage,starved,late,messages,bytes\n"
NEW_HEADER = HEADER.replace("bytes", "bytes,lost,staleness")
"""As runs write it now; the shorter one is that of older runs."""
RING = [[0, 1], [1, 2], [2, 3], [0, 3]]
HALVES = CutEffect(((0, 3), (3, 0), (1, 2), (2, 1)))


def event(
    effect: Effect, begin: float, end: float, unit: Any = "seconds", number: int = 0, fault: str = "", **window: float
) -> FaultEvent:
    name = fault or type(effect).__name__.removesuffix("Effect").lower()
    return FaultEvent(number, name, effect, Window(begin, end, unit, **window))


def write_plan(folder: Path, *events: FaultEvent) -> None:
    (folder / "plan.jsonl").write_text("".join(line + "\n" for line in plan_lines(events)))


def write_lines(path: Path, entries: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def write_records(folder: Path, *rows: str, header: str = HEADER) -> None:
    (folder / "records.csv").write_text(header + "".join(f"{row}\n" for row in rows))


def point(by: str, moment: float, objective: float, consensus: float) -> dict[str, Any]:
    return {
        "by": by, "iteration": int(moment * 2), "seconds": moment, "bytes": int(moment * 100),
        "objective": objective, "consensus": consensus, "coverage": None, "metrics": {},
    }  # fmt: skip


def ring_run(folder: Path, *events: FaultEvent) -> Path:
    """Twenty seconds, two iterations a second; consensus rises from 1 to 5 in seconds 5 to 10 and is back at 14."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "topology.json").write_text(json.dumps({"nodes": 4, "kind": "ring", "edges": RING, "description": {}}))
    consensus = [1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 4, 3, 2, 1.5, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    objective = [10 - 0.2 * second + (3 if 6 <= second <= 11 else 0) for second in range(21)]
    values = list(zip(range(21), objective, consensus, strict=True))
    write_lines(folder / "curve.jsonl", [point("time", t, f, c) for t, f, c in values])
    write_records(folder, *(f"{n},{k},{k / 2 + 0.5},0,1,1,0.1,0,0,1,10" for k in range(40) for n in range(4)))
    facts = {"name": "ring", "status": "finished", "backend": "local", "nodes": 4, "iterations": 40, "seconds": 20}
    (folder / "summary.json").write_text(json.dumps(facts))
    if events:
        write_plan(folder, *events)
    return folder


def change_file(path: Path, **facts: Any) -> None:
    """A file of JSON, with these keys in it."""
    path.write_text(to_text({**json.loads(path.read_text()), **facts}))


def change_summary(folder: Path, **facts: Any) -> Path:
    """The same folder, with these keys in its summary.json."""
    change_file(folder / "summary.json", **facts)
    return folder


def told(what: str, seconds: float, node: int, planned: Any, number: int = 0, **more: Any) -> dict[str, Any]:
    entry = {"seconds": seconds, "what": f"fault {what}", "node": node, "number": number, "planned": planned}
    return entry | {"detail": "links down", "mechanism": "nft"} | more


KILLED = KillEffect((2,))
