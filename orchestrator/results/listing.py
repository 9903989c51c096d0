"""The run folders below a root: what became of each, newest first, and the one that somebody names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from orchestrator.number_words import is_share
from orchestrator.results.campaign_record import UNDER_WAY, CampaignRecord, count_rows, is_under_way, read_record
from orchestrator.results.files import mapping, read_object_if_whole, reading, whole
from orchestrator.results.health import State
from orchestrator.results.points import read_last_point
from orchestrator.results.provenance import FILE as PROVENANCE
from orchestrator.results.read import BROKEN_OFF, RUNNING, is_run, summary_left
from orchestrator.results.summary import read_summary
from pame.errors import PameError

LAST = "last"
"""The name of the newest run."""

_STAMP = re.compile(r"\d{8}-\d{6}(?=-)")
_RUNNING_S = 3.0
_NEAREST, _NEAR = 3, 0.3
_SWEEP = "sweep"
_KINDS = {"run": _SWEEP, "compare": "comparison"}
"""What the campaign of a verb is called, if not as the verb."""


class UnknownRun(PameError):
    """There is no run folder of that name."""


@dataclass(frozen=True)
class RunEntry:
    """One run folder, or the folder of a campaign of so many `runs`; what it does not tell is None."""

    name: str
    path: Path
    when: datetime
    status: str
    health: str | None = None
    runs: int | None = None
    backend: str | None = None
    algorithm: str | None = None
    nodes: int | None = None
    iterations: int | None = None
    objective: float | None = None
    accuracy: float | None = None
    """The headline metric of the mean model, where that is a share of one."""
    bytes: int | None = None
    seconds: float | None = None
    """By the clock of the run, which may be simulated."""
    wall_seconds: float | None = None
    kind: str | None = None
    """Of a campaign."""


def list_runs(root: Path, now: float) -> list[RunEntry]:
    """The runs and campaigns right below a root, newest first; `now` is the time in seconds since the epoch."""
    if not root.is_dir():
        return []
    with reading(root):
        folders = [path for path in root.iterdir() if path.is_dir()]
    entries = [entry for folder in folders if (entry := read_entry(folder, now)) is not None]
    return sorted(entries, key=lambda entry: (entry.when, len(entry.name), entry.name), reverse=True)


def read_entry(folder: Path, now: float) -> RunEntry | None:
    """What a folder tells at a glance; None if it is not that of a run or a campaign."""
    when = _stamp(folder.name)
    try:
        when = when or datetime.fromtimestamp(folder.stat().st_mtime)
        record, is_sweep = read_record(folder), (folder / "sweep.json").is_file()
        if record is not None and (not is_sweep or is_under_way(folder)):
            return _campaign(folder, when, record)
        if is_sweep:
            return _sweep(folder, when)
        if is_run(folder):
            return _run(folder, when, now)
        inside = [path for path in folder.iterdir() if path.name != PROVENANCE]  # it is there before anything else
        runs = [path for path in inside if path.is_dir() and is_run(path)]
        if runs:
            status = RUNNING if any(is_running(path, now) for path in runs) else BROKEN_OFF
            return RunEntry(folder.name, folder, when, status, runs=len(runs), kind=_SWEEP)
        if not inside and _stamp(folder.name):
            return RunEntry(folder.name, folder, when, RUNNING if _written(folder, now) else BROKEN_OFF)
    except OSError:
        return RunEntry(folder.name, folder, when or datetime.fromtimestamp(0), "unreadable")
    return None


def find_run(wanted: str, root: Path, now: float) -> Path:
    """The folder that is meant by a path, by a name below the root or parts of it that fit one run, or by `last`."""
    entries = list_runs(root, now)
    if wanted == LAST and entries:
        return entries[0].path
    if wanted != LAST:
        with reading(Path(wanted)):
            places = [path for path in (Path(wanted), root / wanted) if path.is_dir()]
        if places:
            return next((path for path in places if read_entry(path, now) is not None), places[0])
    if not entries:
        raise UnknownRun(f"there is no run {wanted!r}, nor any other below {root}: make one with `pame run`")
    names = [entry.name for entry in entries]
    fitting = [entry for entry in entries if f"-{wanted}-" in f"-{entry.name}-"]
    if len(fitting) == 1:
        return fitting[0].path
    if fitting:
        newest = ", ".join(entry.name for entry in fitting[:_NEAREST])
        raise UnknownRun(
            f"{wanted!r} fits {len(fitting)} runs below {root}: say more of the name; the newest: {newest}"
        )
    nearest = get_close_matches(wanted, names, _NEAREST, _NEAR) or names[:_NEAREST]
    raise UnknownRun(f"there is no run {wanted!r} below {root}; the nearest names are: {', '.join(nearest)}")


def is_running(folder: Path, now: float) -> bool:
    """Whether a run without a summary has written something just now."""
    if (folder / "summary.json").is_file():
        return False
    return any(_written(folder / name, now) for name in ("records.csv", "curve.jsonl"))


def _run(folder: Path, when: datetime, now: float) -> RunEntry:
    found = read_summary(folder)
    if found is None:
        file = folder / "experiment.yaml"
        experiment = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        status = RUNNING if is_running(folder, now) else BROKEN_OFF
        found = summary_left(experiment, None, read_last_point(folder), None, status, "")
    return RunEntry(
        name=folder.name,
        path=folder,
        when=when,
        status=found.status,
        health=found.health_word or None,
        backend=found.backend or None,
        algorithm=found.algorithm or None,
        nodes=found.nodes,
        iterations=found.iterations,
        objective=found.final.objective,
        accuracy=found.final.metrics.get(found.metric) if found.metric and is_share(found.metric) else None,
        bytes=whole(found.bytes.total),
        seconds=found.seconds,
        wall_seconds=found.wall_seconds,
    )


def _sweep(folder: Path, when: datetime) -> RunEntry:
    listed = (read_object_if_whole(folder / "sweep.json") or {}).get("runs")
    runs = [mapping(run) for run in listed] if isinstance(listed, list) else []
    finished = sum(run.get("status") == "finished" for run in runs)
    status = "finished" if runs and finished == len(runs) else f"{finished} of {len(runs)} finished"
    health = _worst(str(run.get("health") or "") for run in runs)
    return RunEntry(folder.name, folder, when, status if runs else BROKEN_OFF, health, runs=len(runs), kind=_SWEEP)


def _campaign(folder: Path, when: datetime, record: CampaignRecord) -> RunEntry:
    status = record.status
    if status == UNDER_WAY:
        status = RUNNING if is_under_way(folder) else BROKEN_OFF
    return RunEntry(
        folder.name,
        folder,
        when,
        status,
        runs=count_rows(folder),
        backend=record.arguments.get("backend"),
        wall_seconds=record.seconds or None,
        kind=_KINDS.get(record.verb, record.verb),
    )


def _worst(states: Iterable[str]) -> str | None:
    found = set(states)
    return next((state.value for state in reversed(list(State)) if state.value in found), None)


def _written(path: Path, now: float) -> bool:
    return path.exists() and now - path.stat().st_mtime < _RUNNING_S


def _stamp(name: str) -> datetime | None:
    """The moment that `create_folder` put into a name."""
    match = _STAMP.match(name)
    try:
        return datetime.strptime(match.group(), "%Y%m%d-%H%M%S") if match else None
    except ValueError:
        return None
