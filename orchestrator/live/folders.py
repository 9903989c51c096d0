"""The run folders as the page shows them: the list, and the files inside them; nothing beside them, by no path."""

import os
import stat
import time
from pathlib import Path
from typing import IO, Any

from orchestrator.results import list_runs
from orchestrator.results.listing import RunEntry, read_entry

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "text/plain; charset=utf-8",
    ".csv": "text/plain; charset=utf-8",
    ".yaml": "text/plain; charset=utf-8",
    ".npy": "application/octet-stream",
}
"""What is shown of a run folder; other files, such as logs, are not."""
_REPORT = "report.html"
_NEWEST = 100
_TOLD = ("status", "health", "kind", "runs", "algorithm", "nodes", "iterations", "objective", "bytes", "seconds")


def listing(out: Path) -> dict[str, Any]:
    """The newest runs and how many there are; reads files, so it belongs into a thread."""
    entries = list_runs(out, time.time())
    return {"total": len(entries), "runs": [_row(entry) for entry in entries[:_NEWEST]]}


def open_file(out: Path, folder: str, inside: str) -> tuple[IO[bytes], str] | None:
    """A file of a run folder right below `out`, and its type; None if there is none, or if it leads anywhere else."""
    try:
        root = (out / folder).resolve(strict=True)
        if root.parent != out.resolve(strict=True) or root.name != folder or read_entry(root, time.time()) is None:
            return None
        path = (root / inside).resolve(strict=True)
        if root not in path.parents or path.suffix not in _TYPES:
            return None
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except (OSError, ValueError, RuntimeError):  # not there, not ours, no path at all, links in a circle
        return None
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file, _TYPES[path.suffix]
    file.close()
    return None


def _row(entry: RunEntry) -> dict[str, Any]:
    return {
        "folder": entry.name,
        "when": entry.when.isoformat(sep=" ", timespec="seconds"),
        **{name: getattr(entry, name) for name in _TOLD},
        "report": (entry.path / _REPORT).is_file(),
    }
