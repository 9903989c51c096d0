"""What a caller's process asks of the process that carries a run out, and what it is told: JSON, a line each.

The worker ends its work in order when its standard input is closed: asked to stop, or because the caller is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Job:
    verb: Literal["run", "sweep", "compare"]
    path: str
    """The file, or what errors call the text."""
    text: str | None = None
    overrides: Sequence[str] = ()
    backend: str | None = None
    on: str | None = None
    token: str = ""
    security_folder: str | None = None
    out: str = "runs"
    seeds: int | None = None
    quick: bool = False


@dataclass(frozen=True)
class JobProgress:
    """Of the stage under way."""

    stage: str
    cells: int
    ended: int


Message = dict[str, Any]
"""One key: folder, point, state, progress, warning; the last one: done, interrupted, or error."""
FOLDER, POINT, STATE, PROGRESS, WARNING = "folder", "point", "state", "progress", "warning"
DONE, INTERRUPTED, ERROR = "done", "interrupted", "error"
LAST = (DONE, INTERRUPTED, ERROR)
